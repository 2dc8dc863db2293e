import { z } from 'zod';
import { noteOf } from '../address/field-notes.ts';
import type { UnreadValue } from '../address/unread.ts';
import { isExactNumber } from '../exact-number.ts';

/** How items differ from the specification. */
export type DriftKind = 'field' | 'vanished' | 'type' | 'format' | 'value';

/** One way in which the items of a page differ, and in how many places. */
export interface Drift {
  readonly kind: DriftKind;
  /** Where in an item: `address.proxy_type`, `rewards[].type`. */
  readonly path: string;
  /** The new value or type, or what was expected of the format; empty for the other kinds. */
  readonly detail: string;
  readonly count: number;
}

/** What a page's items show of their fields. */
export interface Survey {
  readonly drift: readonly Drift[];
  /** Declared fields that are on every item, and those that are on none. */
  readonly everywhere: readonly string[];
  readonly nowhere: readonly string[];
}

/** Below so many items that a field is on none of them may be chance: most fields may be absent. */
const fewestItems = 10;

/** Ways to differ that are told of one page; a service that changes all at once is told as well. */
const mostDrift = 50;

/** Characters of a new value; the item itself keeps it whole. */
const longestDetail = 100;

/** A place in a schema, and how often the items under survey had it. */
interface Place {
  readonly path: string;
  readonly fields: ReadonlyMap<string, Place> | null;
  readonly element: Place | null;
  readonly known: ReadonlySet<string> | null;
  readonly isGenerational: boolean;
  present: number;
  objects: number;
}

/** Looks over items one by one, and then says what they had in common. */
export interface Surveyor {
  look(raw: unknown): void;
  /** A value that the item was read without. */
  noteUnread(value: UnreadValue): void;
  survey(): Survey;
}

/** A surveyor of items that `schema` describes. It only counts: ten items take some 10 µs. */
export function openSurvey(schema: z.ZodType): Surveyor {
  const root = rootOf(schema);
  reset(root);
  const drift = new Map<string, { kind: DriftKind; path: string; detail: string; count: number }>();
  const note = (kind: DriftKind, path: string, detail: string) => {
    const key = `${kind} ${path} ${detail}`;
    const known = drift.get(key);
    if (known !== undefined) known.count += 1;
    else if (drift.size < mostDrift) drift.set(key, { kind, path, detail, count: 1 });
  };
  return {
    look: (raw) => visit(root, raw, note),
    noteUnread: ({ path, kind, detail }) => note(kind, spell(path), cut(detail)),
    survey() {
      const [everywhere, nowhere]: [string[], string[]] = [[], []];
      collect(root, everywhere, nowhere);
      return { drift: [...drift.values()], everywhere, nowhere };
    },
  };
}

type Note = (kind: DriftKind, path: string, detail: string) => void;

function visit(place: Place, raw: unknown, note: Note): void {
  if (typeof raw === 'string') {
    if (place.known !== null && !place.known.has(raw)) note('value', place.path, cut(raw));
  } else if (Array.isArray(raw)) {
    if (place.element === null) return;
    for (const item of raw) {
      if (item === null) note('type', place.element.path, 'null');
      else visit(place.element, item, note);
    }
  } else if (isObject(raw) && place.fields !== null) {
    place.objects += 1;
    for (const [name, value] of Object.entries(raw)) {
      const field = place.fields.get(name);
      if (field === undefined) note('field', cut(join(place.path, name)), '');
      else {
        field.present += 1;
        visit(field, value, note);
      }
    }
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

function collect(place: Place, everywhere: string[], nowhere: string[]): void {
  for (const field of place.fields?.values() ?? []) {
    if (place.objects >= fewestItems && !field.isGenerational) {
      if (field.present === place.objects) everywhere.push(field.path);
      else if (field.present === 0) nowhere.push(field.path);
    }
    collect(field, everywhere, nowhere);
  }
  if (place.element !== null) collect(place.element, everywhere, nowhere);
}

const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

const spell = (path: readonly PropertyKey[]) =>
  path.reduce<string>(
    (spelled, step) => (typeof step === 'number' ? `${spelled}[]` : join(spelled, String(step))),
    '',
  );

const cut = (text: string) => text.slice(0, longestDetail).toWellFormed();

/** The places of each schema; read once. A survey is made in one go, so the counts are its own. */
const roots = new WeakMap<z.ZodType, Place>();

function rootOf(schema: z.ZodType): Place {
  const known = roots.get(schema);
  if (known !== undefined) return known;
  const root = placeOf(schema, '');
  roots.set(schema, root);
  return root;
}

function placeOf(schema: z.ZodType, path: string): Place {
  const { known = null, isGenerational = false } = noteOf(schema);
  const bare = unwrap(schema);
  const counts = { present: 0, objects: 0 };
  const place = { path, known, isGenerational, fields: null, element: null, ...counts };
  if (bare instanceof z.ZodArray) {
    return { ...place, element: placeOf(bare.element as z.ZodType, `${path}[]`) };
  }
  if (!(bare instanceof z.ZodObject)) return place;
  const fields = Object.entries<z.ZodType>(bare.shape).map(
    ([name, field]) => [name, placeOf(field, join(path, name))] as const,
  );
  return { ...place, fields: new Map(fields) };
}

function reset(place: Place): void {
  place.present = 0;
  place.objects = 0;
  for (const field of place.fields?.values() ?? []) reset(field);
  if (place.element !== null) reset(place.element);
}

/** Of several shapes, the object: the others have no fields. */
function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  if (!(schema instanceof z.ZodUnion)) return schema;
  const shapes = schema.options as readonly z.ZodType[];
  return shapes.find((shape) => shape instanceof z.ZodObject) ?? schema;
}
