import type { Command } from 'commander';
import { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import { printable } from '../printable.ts';
import {
  dropQuarantined,
  listQuarantined,
  type QuarantinedEntry,
  type QuarantineFilter,
  type Retried,
  retryQuarantined,
} from '../quarantine/quarantine.ts';
import { tableLines, fit } from '../terminal/layout.ts';
import type { Look } from '../terminal/look.ts';
import { count } from '../status/schema.ts';
import { addFeedOptions, collect, wholeNumber, type ChosenFeeds } from './options.ts';
import { openData } from './database.ts';
import { exits, UsageError, type Action, type Registry } from './context.ts';

/** An item's feed, and its number for --id. */
const item = { id: z.int(), feed: z.string(), chain_id: z.int(), operation: z.string() };
/** `quarantine list --json`: all items, oldest first. */
export const quarantineListDocument = z.strictObject({
  schema: z.literal('explorer-etl/quarantine-list/1'),
  count,
  items: z.array(
    z.strictObject({
      ...item,
      /** The batch that contains it; null: the list has no batches. */
      batch: z.int().nullable(),
      /** The newest page that contains it. */
      page_id: z.int(),
      first_seen_at: z.string(),
      reason: z.string(),
      raw: z.unknown(),
    }),
  ),
});

export const quarantineRetryDocument = z.strictObject({
  schema: z.literal('explorer-etl/quarantine-retry/1'),
  /** Rows added or changed; other rows were current or newer. */
  written: count,
  /** Items released as rows. */
  rows: z.array(z.strictObject(item)),
  /** Items still in quarantine; if there are any, the exit reason is open. */
  kept: z.array(z.strictObject({ ...item, reason: z.string() })),
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

type Work = (
  db: Database,
  filter: QuarantineFilter,
  ...given: Parameters<Action<QuarantineOptions>>
) => ReturnType<Action<QuarantineOptions>>;

export function register({ command, run, explain }: Registry): void {
  explain(['explorer-etl quarantine list --chain 10', 'explorer-etl quarantine retry']);
  const act = (access: 'reads' | 'writes', work: Work) =>
    run<QuarantineOptions>(async (context, options) => {
      const { id: ids = [], reason = null } = options;
      await using data = await openData(context, access, options);
      const { db, chains, operations } = data;
      return await work(db, { chains, operations, ids, reason }, context, options);
    });
  addFilters(command.command('list'))
    .description('list them, with the reason; --json prints all of each')
    .action(act('reads', list));
  addFilters(command.command('retry'))
    .description('turn them into rows by the rules of this version; makes no request')
    .action(act('writes', retry));
  addFilters(command.command('drop'))
    .description('delete them for good')
    .option('--all', 'all of them, if no other option selects any')
    .action(act('writes', drop));
}

const addFilters = (command: Command): Command =>
  addFeedOptions(command)
    .option('--id <n...>', 'only these', collect(wholeNumber(1)))
    .option('--reason <text>', 'only those whose reason contains this text');

/** The text counts further items: more would scroll away. */
const mostListed = 100;
/** Width of an item in a line, in columns. */
const rawWidth = 60;

/** A feed's name with its parts, so that programs need not split it. */
function feedFields(feed: string) {
  const [chain = '', operation = ''] = feed.split('/');
  return { feed, chain_id: Number(chain), operation };
}

const list: Work = async (db, filter, context) => {
  const entries = await listQuarantined(db, filter);
  const items = entries.map(({ feed, ...entry }) => ({ ...entry, ...feedFields(feed) }));
  const text =
    items.length === 0
      ? 'Nothing is in quarantine.\n'
      : `${listing(entries.slice(0, mostListed), context.out)}\n${more(entries.length)}`;
  const fields = { count: items.length, items };
  return context.print(quarantineListDocument, fields, text);
};

function listing(entries: readonly QuarantinedEntry[], look: Look): string {
  const rows = entries.map(({ id, feed, batch, page_id, first_seen_at, reason, raw }) => {
    const [seen, text] = [first_seen_at.slice(0, 19), JSON.stringify(raw)];
    const cells = [id, feed, batch ?? '', page_id, seen, reason, fit(printable(text), rawWidth)];
    return cells.map((cell) => printable(String(cell)));
  });
  const head = ['id', 'feed', 'batch', 'page', 'first seen', 'reason', 'item'];
  return tableLines(look, { head, rows, aligns: ['right'], flexible: [head.length - 1] }).join(
    '\n',
  );
}

const more = (found: number) =>
  found <= mostListed ? '' : `… and ${found - mostListed} more; --json prints them all.\n`;

const retry: Work = async (db, filter, context) => {
  const retried = await retryQuarantined(db, filter);
  const { written, rows, kept } = retried;
  const fields = {
    written,
    rows: rows.map(({ id, feed }) => ({ id, ...feedFields(feed) })),
    kept: kept.map(({ id, feed, reason }) => ({ id, ...feedFields(feed), reason })),
  };
  const exit = kept.length === 0 ? exits.done : exits.open;
  return context.print(quarantineRetryDocument, fields, summary(retried), exit);
};

function summary({ rows, written, kept }: Retried): string {
  if (rows.length + kept.length === 0) return 'Nothing to retry.\n';
  const known = rows.length === written ? '' : ` (${rows.length - written} of them were known)`;
  const lines = [
    `${rows.length} became rows${known}, ${kept.length} stay in quarantine.`,
    ...kept
      .slice(0, mostListed)
      .map(({ id, feed, reason }) => `  ${id} of ${feed}: ${printable(reason)}`),
  ];
  return `${lines.join('\n')}\n${more(kept.length)}`;
}

const drop: Work = async (db, filter, context, options) => {
  const isChosen =
    filter.chains.length + filter.operations.length + filter.ids.length > 0 ||
    filter.reason !== null;
  if (!isChosen && options.all !== true) {
    throw new UsageError('say which to drop: --chain, --operation, --id, --reason, or --all.');
  }
  const dropped = await dropQuarantined(db, filter);
  const text = `Dropped ${dropped} items.\n`;
  return context.print(quarantineDropDocument, { dropped }, text);
};
