import type { z } from 'zod';
import { isExactNumber } from '../exact-number.ts';
import { join, type Outline, outlineOf, type UnreadValue } from './fields.ts';

/** How items differ from the specification. */
type DriftKind = 'field' | 'vanished' | 'type' | 'format' | 'value';

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
export interface DriftReport {
  readonly drift: readonly Drift[];
  /** Declared fields that are on every item, and those that are on none. */
  readonly everywhere: readonly string[];
  readonly nowhere: readonly string[];
}

/** Below so many items that a field is on none of them may be chance: most fields may be absent. */
const fewestItems = 10;

/** Most differences that one page reports; a service that changes all at once is reported as well. */
const mostDrift = 50;

/** Characters of a new value; the item itself keeps it whole. */
const longestDetail = 100;

/** Counts items one by one, and then says what they had in common. */
export interface DriftCounter {
  count(raw: unknown): void;
  /** A value that the item was read without. */
  noteUnread(value: UnreadValue): void;
  report(): DriftReport;
}

/** Counts the fields of items that `schema` describes. It only counts: ten items take some 10 µs. */
export function openDriftCounter(schema: z.ZodType): DriftCounter {
  const root = outlineOf(schema);
  const counts: Counts = new Map();
  const drift = new Map<string, { kind: DriftKind; path: string; detail: string; count: number }>();
  const note = (kind: DriftKind, path: string, detail: string) => {
    const key = `${kind} ${path} ${detail}`;
    const known = drift.get(key);
    if (known !== undefined) known.count += 1;
    else if (drift.size < mostDrift) drift.set(key, { kind, path, detail, count: 1 });
  };
  return {
    count: (raw) => visit(root, raw, note, counts),
    noteUnread: ({ path, kind, detail }) => note(kind, spell(path), cut(detail)),
    report() {
      const [everywhere, nowhere]: [string[], string[]] = [[], []];
      collect(root, counts, everywhere, nowhere);
      return { drift: [...drift.values()], everywhere, nowhere };
    },
  };
}

type Note = (kind: DriftKind, path: string, detail: string) => void;

/** How often the items had a place, and how often as an object. */
type Counts = Map<Outline, { present: number; objects: number }>;

function visit(place: Outline, raw: unknown, note: Note, counts: Counts): void {
  const count = counts.get(place) ?? { present: 0, objects: 0 };
  counts.set(place, count);
  count.present += 1;
  if (typeof raw === 'string') {
    if (place.known?.includes(raw) === false) note('value', place.path, cut(raw));
  } else if (Array.isArray(raw)) {
    if (place.element === null) return;
    for (const item of raw) {
      if (item === null) note('type', place.element.path, 'null');
      else visit(place.element, item, note, counts);
    }
  } else if (isObject(raw) && place.fields !== null) {
    count.objects += 1;
    for (const [name, value] of Object.entries(raw)) {
      const field = place.fields.get(name);
      if (field === undefined) note('field', cut(join(place.path, name)), '');
      else visit(field, value, note, counts);
    }
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

function collect(place: Outline, counts: Counts, everywhere: string[], nowhere: string[]): void {
  const objects = counts.get(place)?.objects ?? 0;
  for (const field of place.fields?.values() ?? []) {
    if (objects >= fewestItems && field.isGenerational !== true) {
      const present = counts.get(field)?.present ?? 0;
      if (present === objects) everywhere.push(field.path);
      else if (present === 0) nowhere.push(field.path);
    }
    collect(field, counts, everywhere, nowhere);
  }
  if (place.element !== null) collect(place.element, counts, everywhere, nowhere);
}

const spell = (path: readonly PropertyKey[]) =>
  path.reduce<string>(
    (spelled, step) => (typeof step === 'number' ? `${spelled}[]` : join(spelled, String(step))),
    '',
  );

const cut = (text: string) => text.slice(0, longestDetail).toWellFormed();
