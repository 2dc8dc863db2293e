import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { explorer } from './explorer-schema.ts';
import { parseDuration, parseTime } from './time.ts';

/** The operations of the API that are copied. */
export const operationNames = ['user-operations', 'optimism-batch-blocks', 'factories'] as const;
export type OperationName = (typeof operationNames)[number];

/** Five fields or a nickname: the queue looks at schedules once a minute, so no seconds. */
const cronShape = /^(?:\S+\s+){4}\S+$|^@(?:yearly|annually|monthly|weekly|daily|hourly)$/u;

function isSchedule(text: string): boolean {
  if (!cronShape.test(text.trim())) return false;
  try {
    CronExpressionParser.parse(text, { tz: 'UTC' });
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

const schedule = (standard: string, cost: string) =>
  z
    .string()
    .refine(isSchedule, 'not a cron schedule: five fields, such as "*/5 * * * *"')
    .default(standard)
    .describe(`When to look for news, as five cron fields. ${cost}`);

const timezone = z
  .string()
  .refine(isTimeZone, 'not a time zone: a name such as Europe/Berlin')
  .default('UTC')
  .describe('IANA time zone that the schedule is read in.');

const batchNumber = z.int().min(0);

const noDuration = 'not a duration: a number and a unit, such as 30s';
const duration = z.string().refine((text) => parseDuration(text) !== null, noDuration);

const dayMs = 86_400_000;
/** Beyond it a resweep is a new reading of the history, which `backfill --again` does better. */
const deepestMs = 90 * dayMs;
/** Schedules tick once a minute at most: a rule cannot run more often. */
const oftenestMs = 60_000;
/** Each rule is judged at every look; a handful of depths says all there is to say. */
const mostRules = 10;

const resweepRule = z.strictObject({
  depth: duration
    .refine(
      (text) => (parseDuration(text) ?? 1) <= deepestMs,
      'is more than 90d: read the history again with backfill --again instead',
    )
    .describe('How far below the newest known operation the look goes, such as 1h; at most 90d.'),
  every: duration
    .refine(
      (text) => (parseDuration(text) ?? oftenestMs) >= oftenestMs,
      'is less than 1m: schedules tick once a minute at most; write 1m or more',
    )
    .describe('How often, such as 8h. The rule costs depth / every of the pages that are new.'),
});

interface DepthOfLooks {
  readonly overlap: string;
  readonly resweep: readonly { readonly depth: string }[];
}

/** A rule that goes no deeper than each look goes anyway would cost nothing and find nothing. */
function refuseShallow({ overlap, resweep }: DepthOfLooks, context: z.RefinementCtx): void {
  const overlapMs = typeof overlap === 'string' ? parseDuration(overlap) : null;
  for (const [index, rule] of (Array.isArray(resweep) ? resweep : []).entries()) {
    const depth: unknown = rule?.depth;
    const depthMs = typeof depth === 'string' ? parseDuration(depth) : null;
    if (depthMs === null || depthMs > (overlapMs ?? 0)) continue;
    const message =
      'is not deeper than overlap, which each look reads: write more, or leave it out';
    context.addIssue({ code: 'custom', path: ['resweep', index, 'depth'], message });
  }
}

/** Keys of user-operations; parsing `{}` gives the defaults. */
export const userOperations = z
  .strictObject({
    schedule: schedule(
      '*/5 * * * *',
      'Each time costs one page (20 credits) at least, and one for every 50 operations that are new or within the overlap; resweep adds deeper looks.',
    ),
    timezone,
    overlap: duration
      .default('30s')
      .describe(
        'How far below the newest known operation each look goes, by the time of the operations, because some appear behind the head. More finds later arrivals at once and costs more pages of 20 credits.',
      ),
    resweep: z
      .array(resweepRule)
      .max(mostRules)
      .default([
        { depth: '5m', every: '20m' },
        { depth: '1h', every: '8h' },
        { depth: '1d', every: '8d' },
      ])
      .describe(
        'Deeper looks for operations that arrive later than the overlap. Each rule costs depth / every of the pages that are new: 5m every 20m a quarter, 1h every 8h and 1d every 8d an eighth each, so the default half as many pages of 20 credits again. [] turns them off.',
      ),
    since: z
      .string()
      .refine((text) => parseTime(text) !== null, 'not a date or timestamp, such as 2024-01-01')
      .nullish()
      .describe(
        'Oldest operation wanted, a date or timestamp (UTC unless it says otherwise). Without it the whole history is read, once: one page of 20 credits for every 50 operations.',
      ),
  })
  .superRefine(refuseShallow, { when: ({ value }) => typeof value === 'object' && value !== null })
  .describe('User operations of account abstraction, newest first.');

/** Keys of optimism-batch-blocks; parsing `{}` gives the defaults. */
export const optimismBatchBlocks = z
  .strictObject({
    schedule: schedule(
      '*/10 * * * *',
      'Each time costs one page (20 credits) to look above the newest batch, 3 to 29 pages for each batch that is new, and one for each that is read again.',
    ),
    timezone,
    from_batch: batchNumber
      .default(1)
      .describe('First batch to read. Each batch costs 3 to 29 pages of 20 credits.'),
    to_batch: batchNumber
      .nullish()
      .describe(
        'Last batch to read. Without it the newest is searched, once, for under 100 pages of 20 credits, and followed.',
      ),
    reread: z
      .int()
      .min(0)
      .max(100)
      .default(2)
      .describe(
        'How many of the newest numbers are read again each time until they are proved, because a batch can be seen half imported. Each costs one page of 20 credits where nothing is new. Without effect beside to_batch.',
      ),
    parallel: z
      .int()
      .min(1)
      .max(64)
      .default(4)
      .describe('How many batches are read at once. Costs nothing: the rate limit is shared.'),
  })
  .refine(({ from_batch: from, to_batch: to }) => !(typeof to === 'number' && to < from), {
    path: ['to_batch'],
    message: 'is below from_batch: the range is reversed',
    // Also where another key is wrong, so that all problems are shown at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .describe('Blocks of each Optimism batch.');

/** Keys of factories; parsing `{}` gives the defaults. */
export const factories = z
  .strictObject({
    schedule: schedule(
      '0 */6 * * *',
      'Each time reads the whole list: one page of 20 credits for every 50 factories.',
    ),
    timezone,
  })
  .describe('Wallet factories with their numbers of accounts.');

/** A key that stands there without a value means its defaults. */
const orDefaults = <Shape extends z.ZodType>(shape: Shape) => shape.nullable().optional();

const operations = z
  .strictObject({
    'user-operations': orDefaults(userOperations),
    'optimism-batch-blocks': orDefaults(optimismBatchBlocks),
    factories: orDefaults(factories),
  })
  .refine((chosen) => Object.keys(chosen).length > 0, 'names no operation')
  .describe('What to copy from this chain. Without this key: all three operations.');

const chain = z
  .strictObject({
    id: z.int().min(1).describe('Number of the chain, as in the URL of the explorer.'),
    name: z.string().min(1).optional().describe('Name in reports. Default: the usual name.'),
    key: z
      .string()
      .min(1)
      .optional()
      .describe('Which of explorer.keys is used for this chain. Default: EXPLORER_API_KEY.'),
    operations: operations.optional(),
  })
  .describe('A chain to copy.');

function refuseRepeats(chains: readonly { id: number }[], context: z.RefinementCtx): void {
  // Unlike its type says, it may hold anything: it is called even if elements are wrong.
  const ids = chains.map((listed: { id: number } | null) => listed?.id);
  for (const [index, id] of ids.entries()) {
    if (typeof id !== 'number' || ids.indexOf(id) === index) continue;
    const message = `chain ${id} is listed twice`;
    context.addIssue({ code: 'custom', path: [index, 'id'], message });
  }
}

/** The shape of explorer-etl.yaml. */
export const configSchema = z
  .strictObject({
    explorer: orDefaults(explorer),
    chains: z
      .array(chain)
      .superRefine(refuseRepeats, { when: ({ value }) => Array.isArray(value) })
      .nullish()
      .describe('The chains to copy.'),
  })
  .describe('Configuration of explorer-etl.');

/** The file's content once validated. */
export type Config = z.output<typeof configSchema>;

/** The JSON Schema of the file for editors, as the text of explorer-etl.schema.json. */
export function configJsonSchema(): string {
  // Draft 7 is what yaml-language-server reads best.
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ title: 'explorer-etl.yaml', ...schema }, null, 2)}\n`;
}
