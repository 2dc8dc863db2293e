import { z } from 'zod';
import {
  count,
  countOrNull,
  failure,
  feedName,
  instant,
  instantOrNull,
  said,
  seconds,
  secondsOrNull,
  unit,
} from './pieces.ts';
import { range } from './estimate.ts';
import { objective } from './verdict.ts';

const coverage = z
  .discriminatedUnion('of', [
    z.strictObject({
      of: z.literal('blocks').describe('A list that is newest first.'),
      unit,
      covered: count('That are covered.'),
      gaps: count('Holes.'),
      missing: count('What they hold.'),
    }),
    z.strictObject({
      of: z.literal('batches').describe('A list of numbers.'),
      read: count('Numbers that were read.'),
      settled: count('Of them, those that nothing will change any more.'),
      newest: countOrNull('The newest number that is known to have blocks.'),
    }),
    z.strictObject({
      of: z.literal('ranking').describe('A list that is read whole each time.'),
      as_of: instantOrNull('When the reading of the newest ranking began.'),
      factories: count('That are ranked.'),
    }),
  ])
  .describe('How much of it is there, in the terms of its list.');

const lane = z.strictObject({
  lane: z
    .enum(['live', 'backfill'])
    .describe('live: what is new. backfill: history, and rankings.'),
  run_id: count('The newest run.'),
  run_state: z
    .enum(['open', 'finished', 'failed', 'interrupted', 'superseded'])
    .describe('Its state.'),
  run_opened_at: instant,
  reason: said,
  stopped_at: instantOrNull(
    'When a process that was told to stop let go of the run. Null: none has since it was taken up.',
  ),
  last_success_at: instantOrNull('When a run last finished.'),
  last_success_age_s: secondsOrNull('How long ago that was.'),
  last_page_at: instantOrNull('When a page was committed last.'),
  last_page_age_s: secondsOrNull('How long ago that was.'),
  pages_per_second: secondsOrNull('Of the last minutes. Null: none was read in them.'),
  state: z
    .enum([
      'done',
      'running',
      'awaiting',
      'stalled',
      'queued',
      'resting',
      'paused',
      'unattended',
      'unknown',
    ])
    .describe('What it is doing.'),
  until: instantOrNull('Until when a resting lane rests.'),
  quiet_s: secondsOrNull('Since its last page. Null: no worker has it.'),
  left_requests: countOrNull(
    'So many are left: left.requests.likely, or left.requests.most if nothing is likely. Null: not known.',
  ),
  ends_in_s: secondsOrNull(
    'Until that is read, at the present pace. Null: not known, or nothing is read now.',
  ),
  ends_at: instantOrNull('When that is.'),
});

const evidence = z.strictObject({
  is_proved: z.boolean().describe('Whether anything proves the feed.'),
  share: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Part that is proved. Null: nobody knows how long the whole is.'),
  basis: z
    .enum(['known', 'reckoned', 'at-least', 'unknown'])
    .describe(
      'known: the length is. reckoned: from what was read so far. at-least: the list may be shorter than reckoned.',
    ),
  numbers: z
    .strictObject({
      asked: count('That were asked for, and exist by now.'),
      proved: count('That the chain proves.'),
      unread: count('That were not read.'),
      waiting: count('The newest: they wait for what is to come.'),
      doubtful: count('Not proved, though nothing is to come that would prove them.'),
      without_blocks: count(
        'Above the newest batch, in the list of batches, and a poll found no blocks of theirs.',
      ),
      quarantined: count('That hold an item in quarantine.'),
      is_bounded: z.boolean().describe('Nothing above a last number was asked for.'),
    })
    .nullable()
    .describe('Of batches by number, how those that were asked for stand.'),
});

/** The states of a feed, as people and programs read them. */
const feedStates = [
  'unread',
  'current',
  'partial',
  'late',
  'stale',
  'done',
  'running',
  'queued',
  'awaiting',
  'stalled',
  'paused',
  'unattended',
  'unknown',
  'degraded',
  'waiting',
  'unauthorized',
  'unsupported',
  'unordered',
  'failed',
] as const;

/** What `status` says of a feed. */
export const feedReport = z.strictObject({
  feed: feedName,
  chain_id: count('Number of the chain.'),
  chain_name: z.string().describe('Name of the chain.'),
  operation: z.string().describe('Name of the list.'),
  state: z.enum(feedStates).describe('What it is doing; docs/operating.md says what each means.'),
  failure,
  reason: said,
  rows: count('Rows that the feed has added to its own table.'),
  pages: count('Pages that were read.'),
  quarantined: count('Items that could not become rows.'),
  drift: count('Ways in which its items differ from the specification.'),
  archived_bytes: count('Bytes of archived pages, compressed.'),
  running_walks: count('Walks under way.'),
  last_page_at: instantOrNull('When a page was committed last.'),
  last_page_age_s: secondsOrNull('How long ago that was.'),
  checkpoint_age_s: secondsOrNull('How old the oldest checkpoint of a running walk is.'),
  last_success_at: instantOrNull('When a run last finished.'),
  reached: z
    .strictObject({
      top: countOrNull('Where it began.'),
      bottom: countOrNull('What it has reached.'),
      unit,
    })
    .nullable()
    .describe('Where the current walk began, and what it has reached.'),
  batches: z
    .strictObject({ total: count('In all.'), done: count('Read.') })
    .nullable()
    .describe("Of the current run's range, where it has an end."),
  lag_s: secondsOrNull(
    "Age of the newest item, of the newest batch's last block, or of the last ranking.",
  ),
  coverage: coverage.nullable().describe('How much of it is there. Null: not known.'),
  freshness: z
    .strictObject({
      looked_at: instantOrNull(
        'When the last run began that went to the head of the list and finished.',
      ),
      age_s: secondsOrNull('How long ago that was.'),
      objective: objective
        .nullable()
        .describe('How old the last look may be. Null: nothing is to come, so nothing is late.'),
      is_met: z
        .boolean()
        .nullable()
        .describe('Null: the first reading has not ended, or nothing is to come.'),
    })
    .describe('How current it is.'),
  data: z
    .strictObject({
      newest_at: instant.describe('Time of the newest item, confirmed by others. ISO 8601.'),
      age_s: seconds('How old it was when the head of the list was last looked at.'),
      usual_s: seconds('The mean time between two of the newest items.'),
      limit_s: seconds('How old it may be before the source counts as silent.'),
      is_met: z.boolean().describe('Whether it is no older than that.'),
    })
    .nullable()
    .describe(
      'How current its data is. Null: not judged, because the first reading has not ended, nothing is to come, or too few items have times.',
    ),
  proved: evidence.describe('What of it is proved.'),
  left: z
    .strictObject({
      requests: range('Requests, each of a page.'),
      ends_at: instantOrNull('At the present pace. Null: nothing is read now, or not known.'),
    })
    .describe('What is left of its history.'),
  next_poll_at: instantOrNull('Null: nobody works by schedules.'),
  lanes: z.array(lane).describe('Its lanes that ever had a run.'),
});
