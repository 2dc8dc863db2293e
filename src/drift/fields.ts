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
  /** What the schema makes of a text, if it is of the usual form; undefined: only the schema says. */
  readonly usual?: (text: string) => unknown;
}

export const notes = z.registry<FieldNote>();

/** A schema that is not needed for texts of their usual form: zod takes ten times as long as `read`. */
export function usually<Schema extends z.ZodType>(
  schema: Schema,
  form: RegExp,
  read: (text: string) => unknown = (text) => text,
): Schema {
  notes.add(schema, { usual: (text) => (form.test(text) ? read(text) : undefined) });
  return schema;
}

/** A text that has known values; any other is as valid. */
export const textOf = (...values: readonly string[]) =>
  z.string().nullish().register(notes, { known: values });

/** A field that some generation names otherwise or leaves out; the name `sameAs` goes before it. */
export function generational<Schema extends z.ZodType>(schema: Schema, sameAs?: string): Schema {
  const own = schema.clone();
  notes.add(own, { isGenerational: true, ...(sameAs !== undefined && { sameAs }) });
  return own;
}

/** A value of an item that is of another JSON type or format than its field: it counts as missing. */
export interface UnreadValue {
  /** Where in the item: `['rewards', 0, 'reward']`. */
  readonly path: readonly PropertyKey[];
  readonly kind: 'type' | 'format';
  /** The type that came, or what was expected of its format. */
  readonly detail: string;
}

export type Unread = readonly UnreadValue[];

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

/** Positions of a list's members that are null or of which something was not read. */
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

/** A place in a schema, and what it names: the fields of an object, the members of a list, or nothing. */
export interface Outline extends FieldNote {
  /** Where in an item: `address.proxy_type`, `rewards[].type`. */
  readonly path: string;
  /** What reads a value that is neither an object with fields nor a list. */
  readonly schema: z.ZodType;
  /** The type of a value that is accepted unchanged; null: it is validated. */
  readonly plainType: 'string' | 'boolean' | null;
  readonly fields: ReadonlyMap<string, Outline> | null;
  readonly element: Outline | null;
  /** An object's fields that it can't be without, and those that are other names of a field. */
  readonly required: readonly Outline[];
  readonly others: readonly Outline[];
  /** What else an object has to keep to. */
  readonly rules: z.ZodType | null;
  /** The field's place and name in its object, and all of its names; the first that is reported counts. */
  readonly index: number;
  readonly name: string;
  readonly names: readonly string[];
  readonly isRequired: boolean;
}

/** Cached: inspecting a zod schema took a third of the time that an item takes. */
const outlines = new WeakMap<z.ZodType, Outline>();

export function outlineOf(schema: z.ZodType): Outline {
  const known = outlines.get(schema);
  if (known !== undefined) return known;
  const outline = draw(schema, { index: 0, name: '', names: [], path: '' });
  outlines.set(schema, outline);
  return outline;
}

/** The path of a field of an object; an item's own fields stand below the empty path. */
export const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

function draw(
  schema: z.ZodType,
  at: Pick<Outline, 'index' | 'name' | 'names' | 'path'>,
  whole = schema,
): Outline {
  const note = notes.get(schema);
  const inner = innerOf(schema);
  if (inner !== undefined) return { ...draw(inner, at, whole), ...note };
  const isRequired = !whole.safeParse(undefined).success;
  const value = { fields: null, element: null, required: [], others: [], rules: null };
  const plainType = plainTypeOf(schema);
  const place = { ...value, ...note, ...at, plainType, schema: whole, isRequired };
  if (schema instanceof z.ZodArray) {
    const member = { index: 0, name: '', names: [], path: `${at.path}[]` };
    return { ...place, element: draw(schema.element as z.ZodType, member) };
  }
  if (!(schema instanceof z.ZodObject)) return place;
  const shape = Object.entries<z.ZodType>(schema.shape);
  const mainOf = (name: string, field: z.ZodType) => notes.get(field)?.sameAs ?? name;
  const byMain = Map.groupBy(shape, ([name, field]) => mainOf(name, field));
  const fields = shape.map(([name, field], index) => {
    const names = byMain.get(mainOf(name, field))?.map(([other]) => other) ?? [];
    return draw(field, { index, name, names, path: join(at.path, name) });
  });
  const unknowns = Object.fromEntries(shape.map(([name]) => [name, z.unknown().optional()]));
  const rules = schema.def.checks === undefined ? null : schema.safeExtend(unknowns);
  return {
    ...place,
    fields: new Map(fields.map((field) => [field.name, field])),
    required: fields.filter((field) => field.isRequired),
    others: fields.filter((field) => field.sameAs !== undefined),
    rules,
  };
}

function plainTypeOf(schema: z.ZodType): Outline['plainType'] {
  if (schema instanceof z.ZodBoolean) return 'boolean';
  return schema instanceof z.ZodString && schema.def.checks === undefined ? 'string' : null;
}

/** What a schema wraps; of several shapes the object, as the others have no fields. */
function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return schema.unwrap() as z.ZodType;
  }
  if (!(schema instanceof z.ZodUnion)) return undefined;
  return (schema.options as readonly z.ZodType[]).find((shape) => shape instanceof z.ZodObject);
}
