import { z } from 'zod';
import { noteOf } from './field-notes.ts';

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What `raw` holds that `schema` does not name, in the places where it stood; null when nothing is
 * left over. Lists keep their indexes as keys: `{rewards: {"0": {…}}}`. Never drops what the
 * service adds, whatever its type. What `skip` describes is left out: an embedded address's
 * leftovers are its own. Where a field comes under two of its names and they differ, the second one is
 * left over.
 */
export function unknownFields(schema: z.ZodType, raw: unknown, skip?: z.ZodType): unknown {
  return leftovers(outlineOf(schema), raw, skip) ?? null;
}

/** What a schema names: the fields of an object, the elements of a list, or nothing. */
interface Outline {
  readonly schema: z.ZodType;
  readonly fields: ReadonlyMap<string, z.ZodType> | null;
  readonly element: z.ZodType | null;
  /** Of a field's other names those that go before each. */
  readonly namesBefore: ReadonlyMap<string, readonly string[]>;
}

/** Asking zod what a schema is took a third of the time that an item takes; asked once. */
const outlines = new WeakMap<z.ZodType, Outline>();

function outlineOf(schema: z.ZodType): Outline {
  const known = outlines.get(schema);
  if (known !== undefined) return known;
  const bare = unwrap(schema);
  const outline: Outline = {
    schema: bare,
    fields: bare instanceof z.ZodObject ? new Map(Object.entries<z.ZodType>(bare.shape)) : null,
    element: bare instanceof z.ZodArray ? (bare.element as z.ZodType) : null,
    namesBefore:
      bare instanceof z.ZodObject ? namesBeforeEach(Object.entries(bare.shape)) : new Map(),
  };
  outlines.set(schema, outline);
  return outline;
}

function namesBeforeEach(shape: readonly (readonly [string, z.ZodType])[]) {
  const names = shape.map(([name, field]) => ({ name, main: noteOf(field).sameAs ?? name }));
  return new Map(
    names.flatMap(({ name, main }, place) =>
      name === main
        ? []
        : [[name, names.slice(0, place).flatMap((b) => (b.main === main ? b.name : []))] as const],
    ),
  );
}

/** Whether a field came under one of its other names, as another value. */
function isContradicted(raw: JsonObject, value: unknown, before: readonly string[]): boolean {
  const told = before.map((name) => raw[name]).find((other) => (other ?? null) !== null);
  return told !== undefined && (value ?? null) !== null && spelled(told) !== spelled(value);
}

/** Addresses come in upper and lower case. */
const spelled = (value: unknown) => JSON.stringify(value).toLowerCase();

function leftovers(outline: Outline, raw: unknown, skip: z.ZodType | undefined): unknown {
  const { schema, fields, element, namesBefore } = outline;
  if (schema === skip) return undefined;
  const left: [string, unknown][] = [];
  const keep = (name: string, value: unknown) => {
    if (value !== undefined) left.push([name, value]);
  };
  if (element !== null && Array.isArray(raw)) {
    const each = outlineOf(element);
    for (const [index, item] of raw.entries()) keep(String(index), leftovers(each, item, skip));
  } else if (fields !== null && isObject(raw)) {
    for (const [name, value] of Object.entries(raw)) {
      const field = fields.get(name);
      const before = namesBefore.get(name);
      const isSecond = before !== undefined && isContradicted(raw, value, before);
      const isKept = field === undefined || isSecond;
      keep(name, isKept ? value : leftovers(outlineOf(field), value, skip));
    }
  }
  // `fromEntries` defines own properties, so that a key `__proto__` stays a key.
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}
