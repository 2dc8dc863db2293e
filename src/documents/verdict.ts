import { z } from 'zod';
import {
  count,
  failure,
  feedName,
  instantOrNull,
  said,
  seconds,
  secondsOrNull,
  unit,
} from './pieces.ts';

export const objective = z
  .strictObject({
    seconds: seconds('How old the last look may be.'),
    from: z
      .enum(['configured', 'schedule', 'daily'])
      .describe(
        'configured: freshness of the file. schedule: two firings of the schedule that start set. daily: no start ever worked here, so a sync a day.',
      ),
  })
  .describe('How old the last look at the head of the list may be, and where that is said.');

/** How all is, the gravest first. */
const verdictKinds = [
  'database-away',
  'unknown',
  'needs-you',
  'stopped',
  'paused',
  'waiting',
  'degraded',
  'behind',
  'never-read',
  'reading-history',
  'healthy',
] as const;

const feeds = z.array(feedName).describe('The feeds that it concerns.');

const kind = <Name extends string>(name: Name) => z.literal(name).describe('Which reason it is.');

/** One reason of a verdict. */
const reason = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: kind('database-away'),
      message: z.string().describe('What the database, or its absence, said.'),
    })
    .describe('The database does not answer. Only --watch goes on then.'),
  z
    .strictObject({
      kind: kind('unreadable'),
      message: z.string().describe('What the database said, or that it took too long.'),
    })
    .describe(
      'The database answers, and how all is could not be read from it. Told like database-away.',
    ),
  z
    .strictObject({ kind: kind('key-refused'), failure, feeds })
    .describe('The explorer does not accept the key, or saw none.'),
  z
    .strictObject({ kind: kind('unsupported'), feed: feedName, reason: said })
    .describe('The explorer does not serve this list on this chain.'),
  z
    .strictObject({ kind: kind('failed'), feed: feedName, failure, reason: said })
    .describe('A walk failed or was abandoned; the next run reads on.'),
  z
    .strictObject({ kind: kind('rejected'), feed: feedName, reason: said })
    .describe('The explorer refused a parameter: the configuration has to be mended.'),
  z
    .strictObject({ kind: kind('quarantine'), feed: feedName, items: count('So many.') })
    .describe('Items that could not become rows.'),
  z
    .strictObject({
      kind: kind('nobody-works'),
      feeds: feeds.describe('Those that are late, or that were left in the middle.'),
      last_page_at: instantOrNull('When a page of any feed was committed last.'),
      last_page_age_s: secondsOrNull('How long ago that was.'),
    })
    .describe('No process works, and something is due.'),
  z
    .strictObject({ kind: kind('paused'), feeds })
    .describe('Whoever worked was told to stop, and nobody has gone on since.'),
  z
    .strictObject({
      kind: kind('waiting'),
      failure,
      feeds,
      until: instantOrNull('When it goes on. Null: not known.'),
    })
    .describe('The key is throttled or out of credits.'),
  z
    .strictObject({
      kind: kind('stale'),
      feed: feedName,
      unit: z.enum(['items', 'batches']).describe('What the list counts.'),
      age_s: seconds('How old the newest one was at the last look.'),
      usual_s: seconds('The mean time between two of the newest ones.'),
      limit_s: seconds('How old it may be.'),
    })
    .describe(
      'The source is silent: its newest item is far older than its items usually are apart.',
    ),
  z
    .strictObject({
      kind: kind('standby-behind'),
      behind_s: secondsOrNull('How far behind. Null: nothing tells.'),
    })
    .describe(
      'The database is a standby that is far behind its primary, or does not know how far.',
    ),
  z
    .strictObject({ kind: kind('unseen'), feeds })
    .describe(
      'Told by a standby: a run is open, no page came for minutes, and only the primary knows who works.',
    ),
  z
    .strictObject({ kind: kind('degraded'), feed: feedName, failure, reason: said })
    .describe('The explorer, or the database, did not do what it should; it is tried again.'),
  z
    .strictObject({ kind: kind('unordered'), feed: feedName, reason: said })
    .describe('Pages broke the order of the list.'),
  z
    .strictObject({
      kind: kind('stalled'),
      feed: feedName,
      quiet_s: seconds('Since its last page.'),
    })
    .describe('A worker has it, and no page came for minutes.'),
  z
    .strictObject({ kind: kind('unattended'), feed: feedName })
    .describe('A run is open and nobody works on it, though others work.'),
  z
    .strictObject({
      kind: kind('late'),
      feed: feedName,
      age_s: secondsOrNull('Since the last look. Null: there was none.'),
      objective,
    })
    .describe('The last look at the head of the list is older than it may be.'),
  z
    .strictObject({
      kind: kind('gap'),
      feed: feedName,
      unit,
      gaps: count('Holes.'),
      missing: count('What they hold.'),
    })
    .describe('Something is missing that nobody reads.'),
  z
    .strictObject({ kind: kind('doubtful'), feed: feedName, batches: count('So many.') })
    .describe('Batches are read, and the chain does not prove them.'),
  z
    .strictObject({ kind: kind('without-blocks'), feed: feedName, batches: count('So many.') })
    .describe('The list of batches has them, and their blocks are missing.'),
  z
    .strictObject({ kind: kind('unproved'), feed: feedName })
    .describe('Something was read, and nothing proves any of it.'),
  z
    .strictObject({ kind: kind('never-read'), feeds })
    .describe('Nothing was ever read. Without feeds: of anything.'),
  z
    .strictObject({ kind: kind('reading'), feeds, ends_at: instantOrNull('Null: not known.') })
    .describe('History is being read; when that ends at the present pace.'),
]);

export const verdict = z
  .strictObject({
    kind: z.enum(verdictKinds).describe('That of the gravest reason; healthy without any.'),
    reasons: z.array(reason).describe('What it rests on, the gravest first. Empty: healthy.'),
  })
  .describe('How all is.');
