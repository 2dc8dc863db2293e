import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { SimulatedChain } from '../../simulator/index.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { eventually, startProgram, type Child } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');
/** Every page takes this long, in ms, so that no feed ends before the upgrade. */
const latencyMs = 40;

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 4000,
  batches: { first: 1, count: 20, blocks: 20 },
  factories: 1500,
};
const operations = {
  'user-operations': { parallel: 1 },
  'optimism-batch-blocks': { to_batch: 20, parallel: 1 },
  factories: {},
};

/**
 * What a release does to tables that are being written to: locks them, rewrites their rows, adds what
 * the older program knows nothing of.
 */
const nextMigration = `
  alter table explorer.user_operations add column seen_by text not null default 'the older one';
  --> statement-breakpoint
  alter table explorer.user_operations alter column seen_by set default 'the newer one';
  --> statement-breakpoint
  update etl.walks set inserted = inserted;
  --> statement-breakpoint
  create index on explorer.user_operations (seen_by);
`;
const journalSchema = z.looseObject({
  entries: z.array(z.looseObject({ idx: z.int(), when: z.int(), tag: z.string() })).min(1),
});

/**
 * The release after this one: the same program with one migration more. Until there are two releases,
 * this checkout is the older one.
 *
 * @returns its main file
 */
async function makeNextRelease(): Promise<string> {
  const folder = await mkdtemp(inject('directoryPrefix'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const part of ['src', 'migrations', 'questions', 'sql', 'package.json']) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const journalFile = join(folder, 'migrations/meta/_journal.json');
  const journal = journalSchema.parse(JSON.parse(await readFile(journalFile, 'utf8')));
  const last = journal.entries.at(-1)!;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: 'next' });
  await writeFile(journalFile, JSON.stringify(journal));
  await writeFile(join(folder, 'migrations/next.sql'), nextMigration);
  return join(folder, 'src/main.ts');
}

/** A database on which programs of both versions can be started. */
async function openScene() {
  const next = await makeNextRelease();
  const { database, place } = await openWorld({
    seed: 3,
    chain,
    operations,
    explorer: { page_size: 10 },
    latency: () => latencyMs,
  });
  return {
    pool: database.pool,
    older: (...args: string[]) => startProgram(args, place),
    newer: (...args: string[]) => startProgram(args, place, next),
  };
}

const pagesOf = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ pages: string }>('select count(*) as pages from etl.pages');
  return Number(rows[0]?.pages);
};

const untilWorking = (pool: Pool) =>
  eventually('each feed to have pages', async () => {
    const { rows } = await pool.query('select from etl.walks group by feed having sum(pages) > 0');
    return rows.length === 3;
  });

/** Every operation and block that is stored. */
async function keysOf(pool: Pool): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ key: string }>(`
    select hash as key from explorer.user_operations
    union all select hash from explorer.blocks
    union all select address_hash from explorer.factories`);
  return new Set(rows.map(({ key }) => key));
}

async function expectRefused(program: Child): Promise<void> {
  expect(await program.ended(), program.stderr).toEqual({ code: 2, signal: null });
  expect(program.stderr).toContain(
    'The database was migrated by a newer version of explorer-etl: update this program to that version.',
  );
}

test('a newer version migrates while two older workers run: they stop, it continues, and no row is lost', async () => {
  const { pool, older, newer } = await openScene();
  const before = [older('start'), older('start')];
  await untilWorking(pool);

  const after = newer('start');
  for (const worker of before) await expectRefused(worker);
  expect(await ledgerFaults(pool, 'under-way')).toEqual({});
  const [kept, pages] = [await keysOf(pool), await pagesOf(pool)];
  expect(kept.size).toBeLessThan(chain.userOperations);

  await eventually('the newer one to read all history', async () => {
    const { rows } = await pool.query<{ open: string; operations: string }>(`
      select count(*) filter (where closed_at is null) as open,
             (select count(*) from explorer.user_operations) as operations
      from etl.runs`);
    return Number(rows[0]?.open) === 0 && Number(rows[0]?.operations) === chain.userOperations;
  });
  after.kill('SIGTERM');
  expect(await after.ended(), after.stderr).toEqual({ code: 0, signal: null });

  expect(await pagesOf(pool)).toBeGreaterThan(pages);
  expect(kept.difference(await keysOf(pool))).toEqual(new Set());
  const { rows: sources } = await pool.query(
    'select from explorer.user_operations group by seen_by',
  );
  expect(sources).toHaveLength(2);
  const report = newer('verify');
  expect(await report.ended(), report.stdout).toEqual({ code: 0, signal: null });
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  for (const command of ['start', 'sync', 'migrate']) await expectRefused(older(command));
});
