import type { Problem } from './answer.ts';
import type { Generation } from './chain.ts';

/** Every operation takes these: the API key, and the optional secret key. */
const credentials = ['apikey', 'key'] as const;

/** Largest page that the lists serve, and the size of a page when none is asked for. */
export const pageLimit = 50;

/** Where v12 stops to grow a page, however large an `items_count` is asked for. */
const clampedLimit = 100;

/** How many items a page has of a list that takes `items_count`. */
export const countedSize = (generation: Generation, asked: number | undefined): number =>
  generation === 'v12' ? Math.min(asked ?? pageLimit, clampedLimit) : pageLimit;

/** The cursor of such a list: older generations add the length of the page just served. */
export const countedCursor = (
  generation: Generation,
  place: Readonly<Record<string, number>>,
  served: number,
): Readonly<Record<string, number>> =>
  generation === 'v12' ? place : { ...place, items_count: served };

/** A parameter's integer; undefined when it is not in the query or is a problem. */
type IntegerReader = (name: string, lowest: number, highest: number) => number | undefined;

/** The query of one request, checked against what its operation declares. */
export interface Parameters {
  readonly integer: IntegerReader;
  readonly text: (name: string) => string | undefined;
  /** Grows as integers are read. */
  readonly problems: readonly Problem[];
}

/** Reads a query; a parameter that is not among the declared ones is a problem. */
export function readParameters(query: URLSearchParams, declared: readonly string[]): Parameters {
  const allowed = new Set<string>([...credentials, ...declared]);
  const problems: Problem[] = [...new Set(query.keys())]
    .filter((name) => !allowed.has(name))
    .map((name) => ({ name, detail: `Unexpected field: ${name}` }));
  const text = (name: string) => query.get(name) ?? undefined;
  const integer: IntegerReader = (name, lowest, highest) => {
    const value = text(name);
    if (value === undefined) return undefined;
    const detail = findFault(value, lowest, highest);
    if (detail === null) return Number(value);
    problems.push({ name, detail });
    return undefined;
  };
  return { integer, text, problems };
}

function findFault(value: string, lowest: number, highest: number): string | null {
  if (!/^-?\d{1,15}$/.test(value)) return 'Invalid integer. Got: string';
  const number = Number(value);
  if (number < lowest) return `${number} is smaller than inclusive minimum ${lowest}`;
  if (number > highest) return `${number} is larger than inclusive maximum ${highest}`;
  return null;
}
