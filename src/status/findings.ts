import { z } from 'zod';
import { whole } from '../terminal/numbers.ts';

/** A finding of `verify`. The first five kinds keep a feed incomplete; the others, and an outage of its explorer, are notes. */
export const finding = z.strictObject({
  kind: z
    .enum([
      'gap',
      'unverified',
      'mismatch',
      'quarantine',
      'feed-state',
      'pending-head',
      'schema-drift',
      'caveat',
    ])
    .describe(
      'gap: not downloaded. unverified: downloaded, but neighbours or order do not confirm it. mismatch: what is stored, was downloaded and is listed differs. quarantine: items that could not become rows. feed-state: the feed fails; as a note, its explorer fails. pending-head: the newest, waits for what is to come. schema-drift: items differ from the specification. caveat: what limits the completeness.',
    ),
  place: z
    .strictObject({ unit: z.enum(['blocks', 'batches']), from: z.int(), to: z.int() })
    .nullable()
    .describe('Where in the list. Null: it is about all of it.'),
  sentence: z.string().describe('What it is, for people; the wording may change.'),
  command: z.string().nullable().describe('What fixes or shows it. Null: nothing to do.'),
  count: z.int().min(0).nullable().describe('How many blocks, batches, items or fields, if any.'),
});

export type Finding = z.infer<typeof finding>;
type FindingPlace = NonNullable<Finding['place']>;

/** A command with the flags of a feed. */
export const commandFor = (
  what: string,
  { chain_id, operation }: { readonly chain_id: number; readonly operation: string },
): string => `explorer-etl ${what} --chain ${chain_id} --operation ${operation}`;

/** Ranges named in a line; the line counts the others. */
const mostRanges = 6;

/** Ranges in words: `batches 10 to 14, 20 and 9 more`. */
export function placesText(
  unit: FindingPlace['unit'],
  places: readonly Pick<FindingPlace, 'from' | 'to'>[],
): string {
  const [first] = places;
  const isOne = places.length === 1 && first?.from === first?.to;
  const named = places
    .slice(0, mostRanges)
    .map(({ from, to }) => (from === to ? whole(from) : `${whole(from)} to ${whole(to)}`));
  const rest = places.length - named.length;
  const noun = isOne ? { blocks: 'block', batches: 'batch' }[unit] : unit;
  return `${noun} ${named.join(', ')}${rest > 0 ? ` and ${whole(rest)} more` : ''}`;
}
