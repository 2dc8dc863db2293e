import { z } from 'zod';
import { failures, type FailureClass } from '../failure.ts';
import { documentOf } from './envelope.ts';

const count = () => z.int().min(0);

/** What reading came to. */
const sums = {
  rows_added: count().describe('Rows that it added to the tables of the lists.'),
  rows_added_by_others: count().describe(
    'Rows that other processes added meanwhile, because they worked on the same feeds.',
  ),
  rows_changed: count().describe('Rows that were there, and are others now.'),
  pages: count().describe('Pages that it committed.'),
  requests: count().describe('Requests that it made, those that were repeated or refused too.'),
  credits: count().describe("What they cost of the key's credits."),
  quarantined: count().describe(
    'Items that its pages served and that are in quarantine: see quarantine list.',
  ),
  drift: count().describe(
    'Ways in which its pages differ from the specification that no page had shown before.',
  ),
};

const laneEnds = ['finished', 'paused', 'failed', 'unsupported', 'superseded'] as const;
const classes = Object.keys(failures) as [FailureClass, ...FailureClass[]];

/** `sync --json`, `backfill --json` and `repair --json`. */
export const syncDocument = documentOf('sync', 1, {
  command: z.enum(['sync', 'backfill', 'repair']).describe('Which command it was.'),
  lanes: z
    .array(
      z.strictObject({
        feed: z.string().describe('Name of the feed, such as 10/user-operations.'),
        chain_id: z.int().describe('The chain.'),
        operation: z.string().describe('The operation.'),
        lane: z
          .enum(['live', 'backfill'])
          .describe('live: what is new. backfill: history, or a list that is read whole.'),
        state: z
          .enum(laneEnds)
          .describe(
            'How it ended. finished: all that was asked for is read. paused: a signal stopped it, and the same command goes on from there. failed: see failure and reason. unsupported: the explorer does not serve the list on this chain. superseded: somebody asked for other bounds meanwhile.',
          ),
        failure: z.enum(classes).nullable().describe('The class of its failure, if any.'),
        reason: z.string().nullable().describe('The failure in words, if any, with what to do.'),
        ...sums,
      }),
    )
    .describe('A lane of a feed for each that had something to do.'),
  totals: z
    .strictObject({ ...sums, seconds: z.number().min(0).describe('How long it took.') })
    .describe('All of them together.'),
  history: z
    .array(
      z.strictObject({
        feed: z.string().describe('Name of the feed.'),
        requests: count()
          .nullable()
          .describe('Requests that it takes at most, as far as is known. Null: not known.'),
      }),
    )
    .describe('The chosen feeds of which history is still to be read.'),
});

export type SyncDocument = z.infer<typeof syncDocument>;
