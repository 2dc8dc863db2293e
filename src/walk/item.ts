import type { z } from 'zod';
import { allRead, type Unread, type UnreadValue } from '../drift/fields.ts';
import { isExactNumber } from '../exact-number.ts';

/** An item as its schema reads it, or why it is no row. */
export type DecodedItem<Item> =
  | {
      readonly is: 'valid';
      readonly item: Item;
      /** The item as served, with values that were not read moved aside to names of their own. */
      readonly raw: unknown;
      readonly unread: Unread;
    }
  | { readonly is: 'invalid'; readonly reason: string };

/** An item is read again without what was wrong; each time it can only be a level higher up. */
const mostRounds = 8;

/**
 * Decodes an item. A value of another type or format counts as not told, so that the item is read
 * without it: a service that turns a text into a number, or prints `0x` for no hash, must not send
 * every item to quarantine. The value is kept under its field's name and what is off, `fee (number)`
 * or `timestamp (malformed)`, and ends in `extra` as unknown fields do. What can't be without the value
 * goes with it: an address without its hash is none. The item itself can't be without its identity.
 */
export function decodeItem<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
): DecodedItem<z.infer<Schema>> {
  const decoded = schema.safeParse(raw);
  if (decoded.success) return { is: 'valid', item: decoded.data, raw, unread: allRead };
  const first = complaintsAbout(decoded.error);
  let complaints = first;
  let unread: Unread = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const found = complaints.map((complaint) => unreadValue(complaint, raw, unread));
    if (!found.every((value) => value !== null)) break;
    unread = outermost([...unread, ...found]);
    const aside = unread.reduce<unknown>(setAside, raw);
    const again = schema.safeParse(aside);
    if (again.success) return { is: 'valid', item: again.data, raw: aside, unread };
    complaints = complaintsAbout(again.error);
  }
  return { is: 'invalid', reason: first.map(describe).join('; ') };
}

type Issue = z.ZodError['issues'][number];

interface Complaint {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

const complaintsAbout = (error: z.ZodError) =>
  error.issues.flatMap((issue) => complaintsOf(issue, []));

/** Of a field with several shapes, what is wrong with the one that came furthest. */
function complaintsOf(issue: Issue, parent: readonly PropertyKey[]): Complaint[] {
  const path = [...parent, ...issue.path];
  const shapes: readonly (readonly Issue[])[] = issue.code === 'invalid_union' ? issue.errors : [];
  const [closest] = shapes.toSorted((a, b) => depthOf(b) - depthOf(a));
  if (closest !== undefined) return closest.flatMap((inner) => complaintsOf(inner, path));
  return [{ issue, path }];
}

const depthOf = (issues: readonly Issue[]) => Math.max(0, ...issues.map(({ path }) => path.length));

/** Names the field that is wrong and what was expected of it. */
const describe = ({ issue, path }: Complaint) =>
  path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`;

/** What a complaint is about; what stands around it where it is missing. Null: the item itself. */
function unreadValue(complaint: Complaint, raw: unknown, unread: Unread): UnreadValue | null {
  const { issue, path } = complaint;
  let length = path.length;
  while (length > 0 && isMissing(path.slice(0, length), raw, unread)) length -= 1;
  if (length === 0) return null;
  const place = path.slice(0, length);
  if (length < path.length) {
    return { path: place, kind: 'format', detail: `${String(path.at(-1))}: ${issue.message}` };
  }
  const type = jsonType(valueAt(place, raw));
  const expected = issue.code === 'invalid_type' ? issue.expected : type;
  const isRetyped = type !== (expected === 'int' ? 'number' : expected);
  return isRetyped
    ? { path: place, kind: 'type', detail: type }
    : { path: place, kind: 'format', detail: issue.message };
}

const isMissing = (path: readonly PropertyKey[], raw: unknown, unread: Unread) =>
  valueAt(path, raw) === undefined || unread.some((value) => isSame(value.path, path));

const valueAt = (path: readonly PropertyKey[], raw: unknown) =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    raw,
  );

const isSame = (a: readonly PropertyKey[], b: readonly PropertyKey[]) =>
  a.length === b.length && a.every((step, at) => step === b[at]);

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Without what stands in another value that was not read, and each once. */
const outermost = (unread: Unread): Unread =>
  unread.filter(
    ({ path }, place) =>
      !unread.some((other, at) =>
        isSame(other.path, path)
          ? at < place
          : other.path.length < path.length && isSame(other.path, path.slice(0, other.path.length)),
      ),
  );

/** A copy without the value, which is kept beside: a member of a list beside the list. */
function setAside(value: unknown, { path, kind, detail }: UnreadValue): unknown {
  const label = kind === 'type' ? detail : 'malformed';
  return asideOf(value, path, label);
}

function asideOf(value: unknown, path: readonly PropertyKey[], label: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return value;
  const inner: unknown = Reflect.get(value, step);
  if (Array.isArray(value)) return value.with(Number(step), asideOf(inner, rest, label));
  const name = String(step);
  const [member] = rest;
  if (member === undefined) return replace(value, name, [[`${name} (${label})`, inner]]);
  if (rest.length > 1 || !Array.isArray(inner)) {
    return replace(value, name, [[name, asideOf(inner, rest, label)]]);
  }
  const at = Number(member);
  // Null in its place, so that its neighbours keep theirs.
  return replace(value, name, [
    [name, inner.with(at, null)],
    [`${name}[${at}] (${label})`, inner[at]],
  ]);
}

/** `fromEntries` defines own properties, so that a key `__proto__` stays a key. */
const replace = (object: object, name: string, entries: readonly (readonly [string, unknown])[]) =>
  Object.fromEntries(
    Object.entries(object).flatMap(([key, old]) => (key === name ? entries : [[key, old]])),
  );
