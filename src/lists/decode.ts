import type { z } from 'zod';
import { isExactNumber } from '../exact-number.ts';
import { cut, type DriftCounter, openDriftCounter } from '../drift/drift.ts';
import { join, type Outline, outlineOf, type Unread, type UnreadValue } from '../drift/fields.ts';

type Fields = Record<string, unknown>;

export interface ValidItem {
  readonly is: 'valid';
  readonly item: unknown;
  /** What no field of it names or can hold, where it stood; a list keeps its indexes as keys. Null: nothing. */
  readonly extra: unknown;
  /** The same of those of its fields that become rows of their own. */
  readonly extraOf: ReadonlyMap<string, unknown>;
  readonly unread: Unread;
}

/** An item, or why it is no row. */
export type DecodedItem = ValidItem | { readonly is: 'invalid'; readonly reason: string };

/**
 * Decodes an item in one pass. A value of another type or format counts as missing, and `extra` keeps it as `fee (number)`
 * or `timestamp (malformed)`; without its identity an item is invalid. Of two names that differ, the second is left over.
 */
export function decodeItem(
  schema: z.ZodType,
  raw: unknown,
  drift: DriftCounter = openDriftCounter(schema),
): DecodedItem {
  const decoding: Decoding = { drift, path: [], unread: [], extraOf: new Map() };
  const read = readValue(outlineOf(schema), raw, decoding);
  if (read === unreadable) return { is: 'invalid', reason: reasonOf(schema, raw) };
  const { unread, extraOf } = decoding;
  return { is: 'valid', item: read.value, extra: read.left ?? null, extraOf, unread };
}

interface Decoding {
  readonly drift: DriftCounter;
  readonly path: PropertyKey[];
  readonly unread: UnreadValue[];
  readonly extraOf: Map<string, unknown>;
}

interface Read {
  readonly value: unknown;
  /** What its place has no field for; undefined: nothing. */
  readonly left?: Readonly<Fields> | undefined;
  /** Members of a list that are not read, by what their list's name ends with. */
  readonly extras?: readonly (readonly [string, unknown])[] | undefined;
}

const unreadable: unique symbol = Symbol('unreadable');

/** A value of the form that nearly all have, which needs no zod; undefined: it is of another. */
function usualValue(place: Outline, raw: unknown, { drift }: Decoding): unknown {
  if (raw === null) return place.isRequired ? undefined : null;
  if (typeof raw !== 'string') return typeof raw === place.plainType ? raw : undefined;
  if (place.known?.includes(raw) === false) drift.note('value', place.path, raw);
  return place.plainType === 'string' ? raw : place.usual?.(raw);
}

function readValue(place: Outline, raw: unknown, decoding: Decoding): Read | typeof unreadable {
  const { fields, element } = place;
  if (element !== null && Array.isArray(raw)) return readList(element, raw, decoding);
  if (fields !== null && isJsonObject(raw)) {
    // Zod takes one for an object.
    if (isExactNumber(raw)) return refuse(decoding, 'type', 'number');
    return readObject(place, fields, raw, decoding);
  }
  const { success, data, error } = place.schema.safeParse(raw);
  if (success) return { value: data };
  const issue = firstOf(error);
  const type = jsonType(raw);
  const expected = issue?.code === 'invalid_type' ? issue.expected : type;
  return type === (expected === 'int' ? 'number' : expected)
    ? refuse(decoding, 'format', issue?.message ?? '')
    : refuse(decoding, 'type', type);
}

const isJsonObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refuse(
  { path, unread }: Decoding,
  kind: UnreadValue['kind'],
  detail: string,
): typeof unreadable {
  unread.push({ path: [...path], kind, detail });
  return unreadable;
}

function readObject(
  place: Outline,
  fields: ReadonlyMap<string, Outline>,
  raw: Fields,
  decoding: Decoding,
): Read | typeof unreadable {
  const seen = decoding.drift.seenOf(place);
  seen.objects += 1;
  const alreadyUnread = decoding.unread.length;
  const value: Fields = {};
  let left: [string, unknown][] = [];
  for (const name of Object.keys(raw)) {
    const given = raw[name];
    const field = fields.get(name);
    if (field === undefined) {
      decoding.drift.note('field', cut(join(place.path, name)), '');
      if (given !== undefined) left.push([name, given]);
      continue;
    }
    seen.present[field.index] = (seen.present[field.index] ?? 0) + 1;
    const usual = usualValue(field, given, decoding);
    if (usual !== undefined) {
      value[name] = usual;
      continue;
    }
    decoding.path.push(name);
    const read = readValue(field, given, decoding);
    decoding.path.pop();
    if (read === unreadable) {
      left.push([`${name} (${labelOf(decoding.unread.at(-1))})`, given]);
      continue;
    }
    value[name] = read.value;
    if (field.isOwnRow === true) decoding.extraOf.set(name, read.left ?? null);
    else if (read.left !== undefined) left.push([name, read.left]);
    read.extras?.forEach(([member, extra]) => left.push([`${name}${member}`, extra]));
  }
  for (const { name, names } of place.others) {
    if (!isContradicted(raw, value, name, names)) continue;
    left = [...left.filter(([other]) => other !== name), [name, raw[name]]];
  }
  const complaint = complaintOf(place, value);
  if (complaint === null) return { value, left: leftovers(left) };
  decoding.unread.length = alreadyUnread;
  return refuse(decoding, 'format', complaint);
}

/** Whether a field came under one of its names that go before this one, as another value. */
function isContradicted(raw: Fields, value: Fields, name: string, names: readonly string[]) {
  const first = names.find((other) => (value[other] ?? null) !== null);
  if (first === undefined || (value[name] ?? null) === null) return false;
  return comparable(raw[first]) !== comparable(raw[name]);
}

/** Addresses come in upper and lower case. */
const comparable = (value: unknown) => JSON.stringify(value).toLowerCase();

/** Why an object is invalid, although each of its fields can be read. */
function complaintOf({ required, rules }: Outline, value: Fields): string | null {
  const missing = required.find(({ name }) => value[name] === undefined);
  if (missing !== undefined) {
    return `${missing.name}: ${firstOf(missing.schema.safeParse(undefined).error)?.message}`;
  }
  return firstOf(rules?.safeParse(value).error)?.message ?? null;
}

/** A member that is not read is null, so that its neighbours keep their positions. */
function readList(element: Outline, raw: readonly unknown[], decoding: Decoding): Read {
  const left: [string, unknown][] = [];
  const extras: [string, unknown][] = [];
  const value = raw.map((member, index) => {
    if (member === null) decoding.drift.note('type', element.path, 'null');
    const usual = usualValue(element, member, decoding);
    if (usual !== undefined) return usual;
    decoding.path.push(index);
    const read = readValue(element, member, decoding);
    decoding.path.pop();
    if (read === unreadable) {
      extras.push([`[${index}] (${labelOf(decoding.unread.at(-1))})`, member]);
      return null;
    }
    if (read.left !== undefined) left.push([String(index), read.left]);
    return read.value;
  });
  return { value, left: leftovers(left), extras };
}

const labelOf = (value: UnreadValue | undefined) =>
  value?.kind === 'type' ? value.detail : 'malformed';

/** Whether a field belongs to the owner of the key: every reader of a table sees `extra`. */
const isPrivate = (name: string) =>
  name.startsWith('private_tags') || name.startsWith('watchlist_names');

/** `fromEntries` defines own properties, so that a key `__proto__` stays a key. */
function leftovers(left: readonly (readonly [string, unknown])[]): Fields | undefined {
  if (left.length === 0) return undefined;
  const shown: [string, unknown][] = [];
  for (const [name, value] of left) if (!isPrivate(name)) shown.push([name, publicPart(value)]);
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}

function publicPart(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(publicPart);
  return leftovers(Object.entries(value)) ?? {};
}

type Issue = z.ZodError['issues'][number];

/** Names each field that is wrong, and what was expected of it. */
const reasonOf = (schema: z.ZodType, raw: unknown) =>
  complaintsAbout(schema.safeParse(raw).error)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');

const complaintsAbout = (error: z.ZodError | undefined) =>
  error?.issues.flatMap((issue) => complaintsOf(issue, [])) ?? [];

const firstOf = (error: z.ZodError | undefined) => complaintsAbout(error)[0];

/** For a field with several shapes, the complaints about the closest shape. */
function complaintsOf(issue: Issue, parent: readonly PropertyKey[]): Issue[] {
  const path = [...parent, ...issue.path];
  const shapes: readonly (readonly Issue[])[] = issue.code === 'invalid_union' ? issue.errors : [];
  const [closest] = shapes.toSorted((a, b) => depthOf(b) - depthOf(a));
  if (closest !== undefined) return closest.flatMap((inner) => complaintsOf(inner, path));
  return [{ ...issue, path }];
}

const depthOf = (issues: readonly Issue[]) => Math.max(0, ...issues.map(({ path }) => path.length));

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}
