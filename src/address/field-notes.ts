import { z } from 'zod';

/** What is known of a field beyond its type; for noticing that the service changed. */
interface FieldNote {
  /** The values known in autumn 2026. New ones will come: they are kept, and noticed. */
  readonly known?: ReadonlySet<string>;
  /** Whether the service's generations differ in the field, so that its absence says nothing. */
  readonly isGenerational?: boolean;
  /** The name that the same field has elsewhere. */
  readonly sameAs?: string;
}

const notes = new WeakMap<z.ZodType, FieldNote>();

/** A text that has known values; any other is as valid. */
export function textOf(...values: readonly string[]) {
  const schema = z.string().nullish();
  notes.set(schema, { known: new Set(values) });
  return schema;
}

/**
 * A field that some generation of the service names otherwise, or leaves out.
 *
 * @param sameAs the name that goes before this one, where both are told
 */
export function generational<Schema extends z.ZodType>(schema: Schema, sameAs?: string): Schema {
  const own = schema.clone();
  notes.set(own, { isGenerational: true, ...(sameAs !== undefined && { sameAs }) });
  return own;
}

/** What is noted of a field; empty where nothing is. */
export const noteOf = (schema: z.ZodType): FieldNote => notes.get(schema) ?? {};
