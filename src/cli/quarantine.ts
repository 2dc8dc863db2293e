import type { Command } from 'commander';
import type { Database } from '../db/transaction.ts';
import { printable } from '../printable.ts';
import { retryQuarantined, type Retried } from '../quarantine/retry.ts';
import {
  dropQuarantined,
  listQuarantined,
  type QuarantinedEntry,
  type QuarantineFilter,
} from '../quarantine/list.ts';
import type { Settings } from '../config/settings.ts';
import { addFeedOptions, chainOf, wholeNumber, type ChosenFeeds } from './chosen-feeds.ts';
import {
  exitCodes,
  UsageError,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { exits } from './exits.ts';
import { feedOf } from './feed-of.ts';
import { settingsOf } from './setup.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { table } from './table.ts';

interface Chosen extends ChosenFeeds {
  readonly id?: readonly number[];
  readonly reason?: string;
}

type Work = (
  db: Database,
  filter: QuarantineFilter,
  context: Context,
  options: Chosen & GlobalOptions & { readonly all?: boolean },
) => Promise<ExitCode>;

/** `quarantine list|retry|drop`: the items that are no rows, and what to do with them. */
export function registerQuarantine({ command, run }: Registry): void {
  const group = command.addHelpText(
    'after',
    '\nExamples:\n  explorer-etl quarantine list --chain 10\n  explorer-etl quarantine retry\n',
  );
  const act = (access: 'reads' | 'writes', work: Work) =>
    run<Chosen & { readonly all?: boolean }>(async (context, options) => {
      // What was copied once stays in quarantine, whatever the configuration names now.
      const settings = settingsOf(context, { ...options, chain: [], operation: [] }, 'database');
      const filter = filterOf(options, settings);
      return onDatabase(settings, context, access, async (database) => {
        await demandPrepared(database, 'in quarantine');
        return work(database.db, filter, context, options);
      });
    });
  addFilters(group.command('list'))
    .description('list them, with the reason; --json gives all of each')
    .action(act('reads', list));
  addFilters(group.command('retry'))
    .description('make rows of them by the rules of this version; makes no request')
    .action(act('writes', retry));
  addFilters(group.command('drop'))
    .description('forget them for good')
    .option('--all', 'all of them, where nothing else says which')
    .action(act('writes', drop));
}

function addFilters(command: Command): Command {
  return addFeedOptions(command)
    .option(
      '--id <n>',
      'only this one (may be given several times)',
      (value, before: readonly number[] | undefined) => [...(before ?? []), wholeNumber(1)(value)],
    )
    .option('--reason <text>', 'only those whose reason has this text in it');
}

function filterOf(
  { chain = [], operation = [], id = [], reason }: Chosen,
  settings: Settings,
): QuarantineFilter {
  const chains = chain.map((flag) => chainOf(flag, settings));
  return { chains, operations: operation, ids: id, reason: reason ?? null };
}

/** More would scroll away; the rest is counted. */
const mostListed = 100;
/** Characters of an item in a line. */
const rawLength = 60;

const list: Work = async (db, filter, context, { json }) => {
  const entries = await listQuarantined(db, filter);
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/quarantine-list/1',
      exit: exits.done,
      count: entries.length,
      items: entries.map(({ id, feed, ...entry }) => ({ id, ...feedOf(feed), ...entry })),
    });
  } else if (entries.length === 0) context.stdout('Nothing is in quarantine.\n');
  else context.stdout(`${listing(entries.slice(0, mostListed))}\n${more(entries.length)}`);
  return exitCodes.done;
};

function listing(entries: readonly QuarantinedEntry[]): string {
  const head = ['id', 'feed', 'batch', 'page', 'first seen', 'reason', 'item'];
  const rows = entries.map(({ id, feed, batch, page_id, first_seen_at, reason, raw }) => {
    const item = JSON.stringify(raw);
    const shown = item.length <= rawLength ? item : `${item.slice(0, rawLength - 1)}…`;
    const at = first_seen_at.slice(0, 19);
    return [id, feed, batch ?? '', page_id, at, printable(reason), printable(shown)];
  });
  return table(head, rows);
}

const more = (count: number) =>
  count <= mostListed ? '' : `… and ${count - mostListed} more; --json gives them all.\n`;

const retry: Work = async (db, filter, context, { json }) => {
  const retried = await retryQuarantined(db, filter);
  const exit = retried.kept.length === 0 ? exits.done : exits.open;
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/quarantine-retry/1',
      exit,
      written: retried.written,
      rows: retried.rows.map(({ id, feed }) => ({ id, ...feedOf(feed) })),
      kept: retried.kept.map(({ id, feed, reason }) => ({ id, ...feedOf(feed), reason })),
    });
  } else context.stdout(summary(retried));
  return exit.code;
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

const drop: Work = async (db, filter, context, { json, all }) => {
  const isChosen =
    filter.chains.length + filter.operations.length + filter.ids.length > 0 ||
    filter.reason !== null;
  if (!isChosen && all !== true) {
    throw new UsageError('say which to drop: --chain, --operation, --id, --reason, or --all.');
  }
  const dropped = await dropQuarantined(db, filter);
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/quarantine-drop/1',
      exit: exits.done,
      dropped,
    });
  } else context.stdout(`Dropped ${dropped} items.\n`);
  return exitCodes.done;
};
