import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { vi } from 'vitest';
import { tableName } from '../../../src/db/column-types.ts';
import type { Database, Row } from '../../../src/db/transaction.ts';
import { type Page, parseBody } from '../../../src/explorer/response.ts';
import { kindOf } from '../../../src/lists/index.ts';
import type { ItemRows, Operation } from '../../../src/lists/operation.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';
import type { WalkRow } from '../../../src/lists/tables.ts';
import { addressListNames, type AddressObservation } from '../../../src/load/address.ts';
import { addresses } from '../../../src/load/tables.ts';
import type { ReadPage } from '../../../src/sync/judge.ts';
import type { NormalisedPage } from '../../../src/sync/page.ts';
import { PageQueue } from '../../../src/sync/page-queue.ts';
import { readPages } from '../../../src/sync/walk.ts';

export const folder = join(import.meta.dirname, '../../golden');

/** A page as text, and the rows that it becomes. */
export interface GoldenPage {
  readonly operation: OperationName;
  /** As `folder/file`. */
  readonly name: string;
  /** Whether it is a page of another list. */
  readonly isBorrowed: boolean;
  readonly body: string;
  readonly rows: string;
}

/** The pages of a list; those of factories too if its items are theirs under other names: a ranking by one count. */
export function goldenPages(operation: OperationName): GoldenPage[] {
  const list = operations[operation];
  const own = pagesIn(operation).map((page) => ({ ...page, operation, isBorrowed: false }));
  const model = operations.factories;
  const columns = [list.table, model.table].map(
    (each) => Object.keys(getTableColumns(each)).length,
  );
  const isModelled = 'ranking' in list && 'ranking' in model && columns[0] === columns[1];
  if (operation === 'factories' || !isModelled) return own;
  const renamed = (text: string) =>
    text
      .replaceAll(tableName(model.table), tableName(list.table))
      .replaceAll(model.ranking.total, list.ranking.total);
  const borrowed = pagesIn('factories').map(({ name, body, rows }) => {
    return { operation, name, isBorrowed: true, body: renamed(body), rows: renamed(rows) };
  });
  return [...own, ...borrowed];
}

function pagesIn(operation: OperationName) {
  const end = '.page.json';
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return globSync(`${operation}/*${end}`, { cwd: folder })
    .map((file) => file.replaceAll('\\', '/').slice(0, -end.length))
    .toSorted()
    .map((name) => ({ name, body: read(`${name}${end}`), rows: read(`${name}.rows.json`) }));
}

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
        tableName(table),
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
  const start = {
    chain_id,
    operation: operation.name as OperationName,
    scope,
    cursor: null,
    pages: 0,
    items: 0,
    empty_run: 0,
    is_older: false,
    floor: null,
  };
  const answer = { page_id: 1, at: '2026-10-15T12:00:00Z', attempts: 1, latencyMs: 0 };
  const queue = new PageQueue<ReadPage>({ mostBytes: 1, gatherMs: 0 }, () => 0);
  const taken = queue.takeAll(null);
  let pages = 1;
  vi.spyOn(kindOf(start.operation), 'judgeEnd').mockResolvedValue({ is: 'supported' });
  const reader = {
    db: {} as Database,
    operation,
    fetchPage: () =>
      Promise.resolve({
        ...answer,
        body,
        json: parseBody(body) as Page['json'],
        bytes: body.length,
      }),
    pageSize: 50,
    archive: 'off',
    budget: { takePage: () => pages-- > 0 },
    floor: () => null,
  } as const;
  const { signal } = new AbortController();
  const from = { ...reader, walk: start as WalkRow, last: null };
  await readPages(from, queue, signal);
  const [read] = await taken;
  if (read === undefined) throw new Error('the walk read no page');
  return read.page;
}

/** Columns in the order of their table. What the page does not decide, such as a rank, is not there. */
function inColumnOrder(table: PgTable, row: Row): Row {
  const columns = Object.keys(getTableColumns(table)).filter((column) => column in row);
  if (columns.length !== Object.keys(row).length) {
    throw new Error(`${tableName(table)} lacks a column of ${Object.keys(row).join(', ')}`);
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
    return [[tableName(child.table), sorted] as const];
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
