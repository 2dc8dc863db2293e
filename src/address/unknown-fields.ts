import { z } from 'zod';

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What `raw` holds that `schema` does not name, in the places where it stood; null when nothing is
 * left over. Lists keep their indexes as keys: `{rewards: {"0": {…}}}`. Never drops what the
 * service adds, whatever its type. What `skip` describes is left out: an embedded address's
 * leftovers are its own.
 */
export function unknownFields(schema: z.ZodType, raw: unknown, skip?: z.ZodType): unknown {
  return leftovers(schema, raw, skip) ?? null;
}

function leftovers(schema: z.ZodType, raw: unknown, skip: z.ZodType | undefined): unknown {
  const known = unwrap(schema);
  if (known === skip) return undefined;
  if (known instanceof z.ZodArray && Array.isArray(raw)) {
    const element = known.element as z.ZodType;
    return collect(raw.map((item, index) => [String(index), leftovers(element, item, skip)]));
  }
  if (known instanceof z.ZodObject && isObject(raw)) {
    const shape: Record<string, z.ZodType> = known.shape;
    return collect(
      Object.entries(raw).map(([name, value]) => {
        const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
        return [name, field === undefined ? value : leftovers(field, value, skip)];
      }),
    );
  }
  return undefined;
}

/** `Object.fromEntries` defines own properties, so that a key `__proto__` stays a key. */
function collect(entries: readonly (readonly [string, unknown])[]): JsonObject | undefined {
  const left = entries.filter(([, value]) => value !== undefined);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}
