import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { vi } from 'vitest';
import type { Database, Row } from '../../../src/db/transaction.ts';
import { parseBody } from '../../../src/explorer/response.ts';
import { kinds } from '../../../src/lists/index.ts';
import type { ItemRows, Operation } from '../../../src/lists/operation.ts';
import type { WalkRow } from '../../../src/lists/tables.ts';
import { addressListNames, type AddressObservation } from '../../../src/load/address.ts';
import { addresses } from '../../../src/load/tables.ts';
import type { ReadPage } from '../../../src/sync/judge.ts';
import type { NormalisedPage } from '../../../src/sync/page.ts';
import { PageQueue, readPages } from '../../../src/sync/walk.ts';

/** What the page itself does not say: for which chain, and which batch, it was requested. */
export interface Requested {
  readonly chain_id: number;
  readonly batch?: number;
}

/** What a walk makes of one page that it reads, in the form of a rows file. */
export async function goldenRows(operation: Operation, body: Buffer, requested: Requested) {
  const page = await walkOnePage(operation, body, requested);
  const tables = [operation.table, ...operation.children.map(({ table }) => table)];
  return {
    next: page.cursor_out,
    tables: Object.fromEntries(
      tables.map((table, at) => [
        nameOf(table),
        page.rows
          .flatMap(({ row, children }) => (at === 0 ? [row] : (children[at - 1] ?? [])))
          .map((row) => inColumnOrder(table, row)),
      ]),
    ),
    absent: page.rows.flatMap((item) => absentOf(operation, item)),
    addresses: counted(page.rows.flatMap((item) => item.addresses.map(observationOf))),
    quarantined: page.quarantined.map(({ position, reason, from_block, to_block }) => ({
      position,
      reason,
      from_block,
      to_block,
    })),
    repeats: page.repeats,
  };
}

/** A walk that begins with this page, as a walk reads it; what is stored contradicts no end. */
async function walkOnePage(
  operation: Operation,
  body: Buffer,
  { chain_id, ...scope }: Requested,
): Promise<NormalisedPage> {
  const start = { chain_id, scope, cursor: null, pages: 0, items: 0, empty_run: 0, floor: null };
  const answer = { page_id: 1, at: '2026-10-15T12:00:00Z', attempts: 1, latencyMs: 0 };
  const queue = new PageQueue<ReadPage>(1);
  const taken = queue.takeAll();
  let pages = 1;
  vi.spyOn(kinds[operation.kind], 'judgeEnd').mockResolvedValue({ is: 'supported' });
  const reader = {
    db: {} as Database,
    operation,
    fetchPage: () =>
      Promise.resolve({ ...answer, body, json: parseBody(body), bytes: body.length }),
    pageSize: 50,
    archive: 'off',
    budget: { takePage: () => pages-- > 0 },
    floor: () => null,
  } as const;
  await readPages(start as WalkRow, reader, queue, new AbortController().signal);
  const [read] = await taken;
  if (read === undefined) throw new Error('the walk read no page');
  return read.page;
}

function nameOf(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}

/** Columns in the order of their table. What the page does not decide, such as a rank, is not there. */
function inColumnOrder(table: PgTable, row: Row): Row {
  const columns = Object.keys(getTableColumns(table)).filter((column) => column in row);
  if (columns.length !== Object.keys(row).length) {
    throw new Error(`${nameOf(table)} lacks a column of ${Object.keys(row).join(', ')}`);
  }
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}

/** What of an item was not read, so that it stays as it is stored: columns, and positions of children. */
function absentOf({ table, children }: Operation, { position, missing: absent }: ItemRows) {
  if (absent === null) return [];
  const columns = Object.keys(getTableColumns(table)).filter((name) =>
    absent.columns.includes(name),
  );
  const parts = absent.children.flatMap((places, at) => {
    const child = children[at];
    if (places.length === 0 || child === undefined) return [];
    const sorted = places === 'all' ? places : [...places].toSorted((a, b) => a - b);
    return [[nameOf(child.table), sorted] as const];
  });
  return [{ position, columns, children: Object.fromEntries(parts) }];
}

/** One observation of an address: its columns and its lists. A null says nothing of what is stored. */
function observationOf({ row, lists, missing: absent }: AddressObservation) {
  const unread = addressListNames.map((list) => [list, lists[list]?.unread ?? []] as const);
  const inPart = unread.filter(([, positions]) => positions.length > 0);
  return {
    ...inColumnOrder(addresses, { ...row }),
    ...Object.fromEntries(addressListNames.map((list) => [list, lists[list]?.rows ?? null])),
    ...(absent.length > 0 && { absent }),
    ...(inPart.length > 0 && { inPart: Object.fromEntries(inPart) }),
  };
}

/** Equal observations once, and how often they came: most pages show the same entry point all along. */
function counted(observations: readonly object[]) {
  const alike = Map.groupBy(observations, (observation) => JSON.stringify(observation));
  return [...alike.values()].flatMap(([observation, ...more]) =>
    observation === undefined ? [] : [{ times: 1 + more.length, ...observation }],
  );
}
