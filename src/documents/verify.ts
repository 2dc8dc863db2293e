import { z } from 'zod';
import { documentOf } from './envelope.ts';
import { feedFields } from './feed.ts';
import { headFinding, note, openFinding } from './finding.ts';

const count = (what: string) => z.int().min(0).describe(what);

/** A range that is proved complete. */
const covered = z.strictObject({
  from: count('The first block, batch or rank.'),
  to: count('The last one.'),
  as_of: z
    .string()
    .describe('ISO 8601: complete as the service stood then; of its parts, the oldest proof.'),
  newest_as_of: z
    .string()
    .describe('ISO 8601: when the newest walk began, or was judged, that proves a part of it.'),
});

const repair = z
  .strictObject({
    command: z.string().describe('The command that makes the walks.'),
    requests: count('About how many requests it takes.').nullable().describe('Null: not known.'),
    credits: count('What they cost.').nullable().describe('Null: not known.'),
    at_most: count('How many requests it takes at most.').nullable().describe('Null: not known.'),
  })
  .nullable();

const feed = z.strictObject({
  ...feedFields,
  chain: z.string().nullable().describe('Name of the chain; null: not known.'),
  kind: z.string().describe('How the list is ordered: newest-first, numbered or ranked.'),
  unit: z
    .enum(['blocks', 'batches', 'ranks'])
    .nullable()
    .describe('What covered counts; null: this version knows no such list.'),
  state: z.enum(['complete', 'open']).describe('Whether nothing of it is open.'),
  covered: z.array(covered).describe('What is proved complete: blocks, batches, or ranks.'),
  head: z.array(headFinding).describe('What is read, and not proved yet because it is new.'),
  open: z.array(openFinding).describe('What keeps the feed from being complete.'),
  notes: z.array(note).describe('What qualifies the proof, or should be known.'),
  repair: repair.describe('The walks that mend what is open, and their cost; null: none would.'),
});

/** `verify --json`. */
export const verifyDocument = documentOf('verify', 1, {
  at: z.string().describe('When it was asked, ISO 8601.'),
  counts: z
    .strictObject({
      feeds: count('Feeds that were ever registered.'),
      complete: count('Feeds of which nothing is open.'),
      open: count('Feeds of which something is.'),
      findings: count('Things that are open.'),
      notes: count('Things to know.'),
    })
    .describe('How many there are.'),
  feeds: z.array(feed).describe('Each feed.'),
  repair: repair.describe('One command for all that walks would mend; null: none would.'),
});

export type VerifyDocument = z.infer<typeof verifyDocument>;
