import type { z } from 'zod';

/** An item as its schema reads it, or why it is no row. */
export type DecodedItem<Item> =
  | {
      readonly is: 'valid';
      readonly item: Item;
      /** The item as served, with fields of a new type moved aside to a name of their own. */
      readonly raw: unknown;
      readonly retyped: readonly Retyped[];
    }
  | { readonly is: 'invalid'; readonly reason: string };

/** A field that came with another JSON type than the specification's. */
export interface Retyped {
  readonly path: readonly PropertyKey[];
  readonly type: string;
}

/**
 * Decodes an item. Where all that is wrong are fields of a new JSON type, the item is read without
 * them: a service that turns a text into a number must not send every item to quarantine. Such a
 * value is kept under the field's name and its type, `fee (number)`, and ends in `extra` as unknown
 * fields do. A field that the item cannot be without leaves it invalid, with what was wrong at first.
 */
export function decodeItem<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
): DecodedItem<z.infer<Schema>> {
  const decoded = schema.safeParse(raw);
  if (decoded.success) return { is: 'valid', item: decoded.data, raw, retyped: [] };
  const complaints = decoded.error.issues.flatMap((issue) => complaintsOf(issue, []));
  const retyped = complaints.map(({ issue, path }) => retypedField(issue, path, raw));
  if (retyped.every((field) => field !== null)) {
    const aside = retyped.reduce<unknown>(
      (rest, { path, type }) => setAside(rest, path, type),
      raw,
    );
    const again = schema.safeParse(aside);
    if (again.success) return { is: 'valid', item: again.data, raw: aside, retyped };
  }
  return { is: 'invalid', reason: complaints.map(describe).join('; ') };
}

type Issue = z.ZodError['issues'][number];

interface Complaint {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

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

/** The field that a complaint is about if its JSON type is new, else null. */
function retypedField(issue: Issue, path: readonly PropertyKey[], raw: unknown): Retyped | null {
  if (issue.code !== 'invalid_type') return null;
  const type = jsonType(path.reduce<unknown>(stepInto, raw));
  const expected = issue.expected === 'int' ? 'number' : issue.expected;
  if (type === null || type === expected) return null;
  // An element of a list has no name to keep it under: the list as a whole has.
  const named = path.slice(0, path.findLastIndex((step) => typeof step !== 'number') + 1);
  if (named.length === 0) return null;
  return { path: named, type: named.length === path.length ? type : `list of ${type}` };
}

const stepInto = (value: unknown, step: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;

function jsonType(value: unknown): string | null {
  if (value === undefined) return null;
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A copy without the field at `path`, which is kept beside under its name and type. */
function setAside(value: unknown, path: readonly PropertyKey[], type: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return value;
  if (rest.length > 0) {
    const inner = setAside(Reflect.get(value, step), rest, type);
    if (Array.isArray(value)) return value.with(Number(step), inner);
    return replace(value, String(step), String(step), inner);
  }
  const name = String(step);
  // Set aside before, for another element of the same list.
  if (!Object.hasOwn(value, name)) return value;
  return replace(value, name, `${name} (${type})`, Reflect.get(value, step));
}

/** `fromEntries` defines own properties, so that a key `__proto__` stays a key. */
const replace = (object: object, name: string, newName: string, value: unknown): object =>
  Object.fromEntries(
    Object.entries(object).map(([key, old]) => (key === name ? [newName, value] : [key, old])),
  );
