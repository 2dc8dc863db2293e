import { z } from 'zod';

/** What is known of a field beyond its type; for noticing that the service changed. */
export interface FieldNote {
  /** The values known in autumn 2026. New ones will come: they are kept, and noticed. */
  readonly known?: readonly string[];
  /** Whether the service's generations differ in the field, so that its absence says nothing. */
  readonly isGenerational?: boolean;
  /** The name that the same field has elsewhere. */
  readonly sameAs?: string;
  /** Whether it becomes a row of its own, which keeps its unknown fields. */
  readonly isOwnRow?: boolean;
}

export const notes = z.registry<FieldNote>();

/** A text that has known values; any other is as valid. */
export const textOf = (...values: readonly string[]) =>
  z.string().nullish().register(notes, { known: values });

/**
 * A field that some generation of the service names otherwise, or leaves out.
 *
 * @param sameAs the name that goes before this one, where both are told
 */
export function generational<Schema extends z.ZodType>(schema: Schema, sameAs?: string): Schema {
  const own = schema.clone();
  notes.add(own, { isGenerational: true, ...(sameAs !== undefined && { sameAs }) });
  return own;
}
