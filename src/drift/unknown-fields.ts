import type { z } from 'zod';
import { outlineOf, type Outline } from './outline.ts';

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What `raw` holds that `schema` does not name, in the places where it stood; null when nothing is
 * left over. Lists keep their indexes as keys: `{rewards: {"0": {…}}}`. Never drops what the
 * service adds, whatever its type. What becomes a row of its own is left out: an embedded address's
 * leftovers are its own. Where a field comes under two of its names and they differ, the second one is
 * left over.
 */
export const unknownFields = (schema: z.ZodType, raw: unknown): unknown =>
  leftovers(outlineOf(schema), raw) ?? null;

/** Whether a field came under one of its other names, as another value. */
function isContradicted(raw: JsonObject, value: unknown, before: readonly string[]): boolean {
  if (before.length === 0) return false;
  const told = before.map((name) => raw[name]).find((other) => (other ?? null) !== null);
  return told !== undefined && (value ?? null) !== null && spelled(told) !== spelled(value);
}

/** Addresses come in upper and lower case. */
const spelled = (value: unknown) => JSON.stringify(value).toLowerCase();

function leftovers({ fields, element }: Outline, raw: unknown): unknown {
  const left: [string, unknown][] = [];
  const keep = (name: string, value: unknown) => {
    if (value !== undefined) left.push([name, value]);
  };
  if (element !== null && Array.isArray(raw)) {
    for (const [index, item] of raw.entries()) keep(String(index), leftovers(element, item));
  } else if (fields !== null && isObject(raw)) {
    for (const name of Object.keys(raw)) {
      const value = raw[name];
      const field = fields.get(name);
      if (field === undefined || isContradicted(raw, value, field.namesBefore)) keep(name, value);
      else if (field.isOwnRow !== true) keep(name, leftovers(field, value));
    }
  }
  // `fromEntries` defines own properties, so that a key `__proto__` stays a key.
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
