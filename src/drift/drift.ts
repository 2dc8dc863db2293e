import type { z } from 'zod';
import { join, type Outline, outlineOf, type UnreadValue } from './fields.ts';

type DriftKind = 'field' | 'vanished' | 'type' | 'format' | 'value';

export interface Drift {
  readonly kind: DriftKind;
  /** Where in an item: `address.proxy_type`, `rewards[].type`. */
  readonly path: string;
  /** The new value or type, or what was expected of the format; empty for the other kinds. */
  readonly detail: string;
  readonly count: number;
}

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

/** How many objects stood in a place, and how many of them had each of its fields. */
interface Seen {
  objects: number;
  readonly present: number[];
}

export type DriftCounter = ReturnType<typeof openDriftCounter>;

/** Counts the fields of items that `schema` describes. */
export function openDriftCounter(schema: z.ZodType) {
  const seen = new Map<Outline, Seen>();
  const drift = new Map<string, Drift & { count: number }>();
  const note = (kind: DriftKind, path: string, whole: string): void => {
    const detail = cut(whole);
    const key = `${kind} ${path} ${detail}`;
    const known = drift.get(key);
    if (known !== undefined) known.count += 1;
    else if (drift.size < mostDrift) drift.set(key, { kind, path, detail, count: 1 });
  };
  return {
    note,
    seenOf(place: Outline): Seen {
      const known = seen.get(place);
      if (known !== undefined) return known;
      const none = { objects: 0, present: Array.from(place.fields ?? [], () => 0) };
      seen.set(place, none);
      return none;
    },
    /** A value that the item was read without. */
    noteUnread: ({ path, kind, detail }: UnreadValue) => note(kind, formatPath(path), detail),
    report(): DriftReport {
      const [everywhere, nowhere]: [string[], string[]] = [[], []];
      collect(outlineOf(schema), seen, everywhere, nowhere);
      return { drift: [...drift.values()], everywhere, nowhere };
    },
  };
}

function collect(
  place: Outline,
  seen: ReadonlyMap<Outline, Seen>,
  everywhere: string[],
  nowhere: string[],
): void {
  const { objects = 0, present } = seen.get(place) ?? {};
  for (const field of place.fields?.values() ?? []) {
    if (objects >= fewestItems && field.isGenerational !== true) {
      const count = present?.[field.index] ?? 0;
      if (count === objects) everywhere.push(field.path);
      else if (count === 0) nowhere.push(field.path);
    }
    collect(field, seen, everywhere, nowhere);
  }
  if (place.element !== null) collect(place.element, seen, everywhere, nowhere);
}

const formatPath = (path: readonly PropertyKey[]) =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[]` : join(text, String(step))),
    '',
  );

export const cut = (text: string) => text.slice(0, longestDetail).toWellFormed();
