import type { Command } from 'commander';
import { z } from 'zod';
import { printable } from '../printable.ts';
import {
  dropQuarantined,
  listQuarantined,
  detailedItem,
  type QuarantineFilter,
  retried,
  retryQuarantined,
} from '../quarantine/quarantine.ts';
import { fit, tableLines } from '../terminal/layout.ts';
import { count } from '../status/schema.ts';
import { sumUp } from '../sync/serve.ts';
import { counted } from '../terminal/numbers.ts';
import { addFeedOptions, collect, wholeNumber, type ChosenFeeds } from './options.ts';
import { openData } from './database.ts';
import { logOf } from './screen.ts';
import { exits, UsageError, type Context, type Registry } from './context.ts';

/** `quarantine list --json`: all items, oldest first. */
export const quarantineListDocument = z.strictObject({
  schema: z.literal('explorer-etl/quarantine-list/1'),
  count,
  items: z.array(detailedItem),
});

/** If it kept any, the exit reason is open. */
export const quarantineRetryDocument = z.strictObject({
  schema: z.literal('explorer-etl/quarantine-retry/1'),
  ...retried.shape,
});

export const quarantineDropDocument = z.strictObject({
  schema: z.literal('explorer-etl/quarantine-drop/1'),
  dropped: count,
});

interface QuarantineOptions extends ChosenFeeds {
  readonly id?: readonly number[];
  readonly reason?: string;
  readonly all?: boolean;
}

export function register({ command, run, explain }: Registry): void {
  explain(['explorer-etl quarantine list --chain 10', 'explorer-etl quarantine retry']);
  addFilters(command.command('list'))
    .description('list them, with the reason; --json prints all of each')
    .action(run(list));
  addFilters(command.command('retry'))
    .description('turn them into rows by the rules of this version; makes no request')
    .action(run(retry));
  addFilters(command.command('drop'))
    .description('close their findings without a row; list and retry still find them by --id')
    .option('--all', 'all of them, if no other option selects any')
    .action(run(drop));
}

const addFilters = (command: Command): Command =>
  addFeedOptions(command)
    .option('--id <n...>', 'only these', collect(wholeNumber(1)))
    .option('--reason <text>', 'only those whose reason contains this text');

function filterOf(
  { chains, operations }: Pick<QuarantineFilter, 'chains' | 'operations'>,
  options: QuarantineOptions,
): QuarantineFilter {
  const { id: ids = [], reason = null } = options;
  return { chains, operations, ids, reason };
}

/** The text counts further items: more would scroll away. */
const mostListed = 100;
/** Width of an item in a line, in columns. */
const rawWidth = 60;

async function list(context: Context, options: QuarantineOptions) {
  await using data = await openData(context, 'reads', options);
  const items = await listQuarantined(data.db, filterOf(data, options));
  const rows = items.slice(0, mostListed).map((one) => {
    const [seen, raw] = [one.first_seen_at.slice(0, 19), JSON.stringify(one.raw)];
    const cut = fit(raw, rawWidth);
    const cells = [one.id, one.feed, one.batch ?? '', one.page_id, seen, one.reason, cut];
    return cells.map(String);
  });
  const head = ['id', 'feed', 'batch', 'page', 'first seen', 'reason', 'item'];
  const table = { head, rows, aligns: ['right'], flexible: [head.length - 1] } as const;
  const lines = rows.length === 0 ? ['Nothing is in quarantine.'] : tableLines(context.out, table);
  const text = textOf(lines, items.length);
  return context.print(quarantineListDocument, { count: items.length, items }, text);
}

function textOf(lines: readonly string[], found: number): string {
  const more = found - mostListed;
  const rest = more > 0 ? [`… and ${more} more; --json prints them all.`] : [];
  return `${[...lines, ...rest].join('\n')}\n`;
}

async function retry(context: Context, options: QuarantineOptions) {
  await using data = await openData(context, 'writes', options);
  const result = await retryQuarantined(data.db, filterOf(data, options));
  const { written, rows, kept } = result;
  await sumUp({ ...data, log: logOf(context), now: () => performance.now() }, context.signal);
  const known = rows.length === written ? '' : ` (${rows.length - written} of them were known)`;
  const summary = `${rows.length} became rows${known}, ${kept.length} stay in quarantine.`;
  const reasons = kept.map(({ id, feed, reason }) => `  ${id} of ${feed}: ${printable(reason)}`);
  const text =
    rows.length + kept.length === 0
      ? 'Nothing to retry.\n'
      : textOf([summary, ...reasons.slice(0, mostListed)], kept.length);
  const exit = kept.length === 0 ? exits.done : exits.open;
  return context.print(quarantineRetryDocument, result, text, exit);
}

async function drop(context: Context, options: QuarantineOptions) {
  await using data = await openData(context, 'writes', options);
  const { chain, operation, id, reason, all } = options;
  if ([chain, operation, id, reason, all].every((given) => given === undefined)) {
    throw new UsageError('say which to drop: --chain, --operation, --id, --reason, or --all.');
  }
  const dropped = await dropQuarantined(data.db, filterOf(data, options));
  return context.print(
    quarantineDropDocument,
    { dropped },
    `Dropped ${counted(dropped, 'item')}.\n`,
  );
}
