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
 * @param sameAs the name that goes before this one, if both are present
 */
export function generational<Schema extends z.ZodType>(schema: Schema, sameAs?: string): Schema {
  const own = schema.clone();
  notes.add(own, { isGenerational: true, ...(sameAs !== undefined && { sameAs }) });
  return own;
}

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

/** A value of an item that is of another JSON type or format than its field: it counts as missing. */
export interface UnreadValue {
  /** Where in the item: `['rewards', 0, 'reward']`. */
  readonly path: readonly PropertyKey[];
  readonly kind: 'type' | 'format';
  /** The type that came, or what was expected of its format. */
  readonly detail: string;
}

/** What of an item or a part of it was not read. */
export type Unread = readonly UnreadValue[];

/** Everything was read, as it almost always is. */
export const allRead: Unread = [];

/** What was not read below a field; a value that is the field itself is not below it. */
export function unreadBelow(unread: Unread, ...field: readonly string[]): Unread {
  if (unread.length === 0) return unread;
  return unread.flatMap((value) => {
    const isBelow =
      value.path.length > field.length && field.every((step, at) => value.path[at] === step);
    return isBelow ? [{ ...value, path: value.path.slice(field.length) }] : [];
  });
}

/** Whether a field, or one that it stands in, was not read. */
export const isUnread = (unread: Unread, ...field: readonly string[]): boolean =>
  unread.some(
    ({ path }) => path.length <= field.length && path.every((step, at) => step === field[at]),
  );

/** The fields of an item, by the names of its own, that were not read. */
export const unreadFields = (unread: Unread): string[] =>
  unread.flatMap(({ path }) => (path.length === 1 ? [String(path[0])] : []));

/**
 * The members of a list of which something was not read, by their positions: all that a list had that
 * is reported in part. A member that is null is one.
 */
export function unreadMembers(
  list: readonly unknown[] | null | undefined,
  below: Unread,
): readonly number[] {
  if (list === null || list === undefined) return [];
  if (below.length === 0 && !list.includes(null)) return [];
  const positions = below.flatMap(({ path: [position] }) =>
    typeof position === 'number' ? [position] : [],
  );
  const missing = list.flatMap((member, position) => (member === null ? [position] : []));
  return [...new Set([...positions, ...missing])];
}

/** A place in a schema, and what it names: the fields of an object, the elements of a list, or nothing. */
export interface Outline extends FieldNote {
  /** Where in an item: `address.proxy_type`, `rewards[].type`. */
  readonly path: string;
  readonly fields: ReadonlyMap<string, Outline> | null;
  readonly element: Outline | null;
  /** The field's other names that go before this one. */
  readonly namesBefore: readonly string[];
}

/** Asking zod what a schema is took a third of the time that an item takes; cached. */
const outlines = new WeakMap<z.ZodType, Outline>();

export function outlineOf(schema: z.ZodType): Outline {
  const known = outlines.get(schema);
  if (known !== undefined) return known;
  const outline = draw(schema, '', []);
  outlines.set(schema, outline);
  return outline;
}

/** The path of a field of an object; an item's own fields stand below the empty path. */
export const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

function draw(schema: z.ZodType, path: string, namesBefore: readonly string[]): Outline {
  const note = notes.get(schema);
  const inner = innerOf(schema);
  if (inner !== undefined) return { ...draw(inner, path, namesBefore), ...note };
  const place = { ...note, path, namesBefore, fields: null, element: null };
  if (schema instanceof z.ZodArray) {
    return { ...place, element: draw(schema.element as z.ZodType, `${path}[]`, []) };
  }
  if (!(schema instanceof z.ZodObject)) return place;
  const shape = Object.entries<z.ZodType>(schema.shape);
  const mains = shape.map(([name, field]) => notes.get(field)?.sameAs ?? name);
  const before = (index: number) =>
    shape.slice(0, index).flatMap(([name], other) => (mains[other] === mains[index] ? name : []));
  const fields = shape.map(
    ([name, field], index) =>
      [name, draw(field, join(path, name), mains[index] === name ? [] : before(index))] as const,
  );
  return { ...place, fields: new Map(fields) };
}

/** What a schema wraps; of several shapes the object, as the others have no fields. */
function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return schema.unwrap() as z.ZodType;
  }
  if (!(schema instanceof z.ZodUnion)) return undefined;
  return (schema.options as readonly z.ZodType[]).find((shape) => shape instanceof z.ZodObject);
}
