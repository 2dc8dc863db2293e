import { execFile, spawnSync } from 'node:child_process';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { grantRoles, roles } from '../../../src/db/roles.ts';
import { userWith } from '../../harness/database.ts';
import { emptyFolder } from '../../harness/process.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';

const hasDbt = spawnSync('dbt', ['--version']).status === 0;
const root = join(import.meta.dirname, '../../..');

const resultsShape = z.object({
  results: z.array(z.object({ unique_id: z.string(), status: z.string() })),
});

/** The model of docs/dbt.md, and the settings that limit tests. */
async function example() {
  const page = await readFile(join(root, 'docs/dbt.md'), 'utf8');
  const [, model = ''] = /^```sql\n(.*?)^```$/msu.exec(page) ?? [];
  const [, settings = ''] = /^```yaml\n(data_tests:.*?)^```$/msu.exec(page) ?? [];
  return { model, settings };
}

/** A project of dbt on a database, with the package and the model of docs/dbt.md. */
async function project(url: string) {
  const cwd = await emptyFolder();
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  const postgres = { type: 'postgres', host, port: Number(port), user, password, threads: 2 };
  const output = { ...postgres, dbname: pathname.slice(1), schema: 'models' };
  const { model, settings } = await example();
  const files = {
    'packages.yml': { packages: [{ local: join(root, 'dbt') }] },
    'profiles.yml': { mine: { target: 'here', outputs: { here: output } } },
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(cwd, name), JSON.stringify(content));
  }
  await writeFile(join(cwd, 'dbt_project.yml'), 'name: mine\nprofile: mine\n');
  await mkdir(join(cwd, 'models'));
  await writeFile(join(cwd, 'models/operations.sql'), model);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DBT_PROFILES_DIR: cwd, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' };
  /** Runs a command of dbt. @returns its exit code, and what did not succeed */
  const dbt = async (...args: readonly string[]) => {
    const run = promisify(execFile)('dbt', [...args], { cwd, env });
    const { code, stdout } = await run.then(
      (ended) => ({ code: 0, stdout: ended.stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    const file = args[0] === 'source' ? 'sources.json' : 'run_results.json';
    const written = await readFile(join(cwd, 'target', file), 'utf8').catch(() => '{"results":[]}');
    const { results } = resultsShape.parse(JSON.parse(written));
    const failed = results.filter(({ status }) => !['success', 'pass'].includes(status));
    return {
      code,
      stdout,
      results: results.length,
      failed: failed.map(({ unique_id: id }) => id).toSorted(),
    };
  };
  return { dbt, limitTests: () => appendFile(join(cwd, 'dbt_project.yml'), settings) };
}

/** The rows of the model that differ from the table, of both. */
const differing = `
  with source as (select chain_id, hash, fee, removed_at from explorer.user_operations),
       model as (select chain_id, hash, fee, removed_at from models.operations)
  (table source except table model) union all (table model except table source)`;

test('dbt builds a model from the sources, and again after changes, and its tests find what is open', async ({
  skip,
}) => {
  skip(!hasDbt, 'dbt is not on the PATH');
  const chain = {
    ...plainChain,
    userOperations: 300,
    motion: { operationsPerMinute: 2 },
    factories: 20,
  };
  const copy = await openCopy(chain, { run: { operations: ['user-operations', 'factories'] } });
  await copy.sync();
  await grantRoles(copy.pool);
  const { url } = await userWith(copy.database, roles.analyst);
  await copy.query(`create schema models authorization ${new URL(url).username}`);
  const { dbt, limitTests } = await project(url);

  expect(await dbt('deps')).toMatchObject({ code: 0 });
  const built = await dbt('build');
  expect(built).toMatchObject({ code: 0, failed: [] });
  expect(built.results).toBeGreaterThan(40);
  expect(built.stdout).not.toMatch(/deprecat|warning/iu);
  expect(await dbt('source', 'freshness')).toMatchObject({ code: 0, failed: [] });
  await limitTests();
  const limited = await dbt('test', '--select', 'package:explorer_etl');
  expect(limited).toMatchObject({ code: 0, failed: [], results: built.results - 1 });
  expect(await copy.query('select count(*)::int as rows from models.operations')).toEqual([
    { rows: 300 },
  ]);

  // An hour later: new operations, and one that changed.
  await copy.query(`
    update explorer.user_operations set fee = fee + 1, updated_at = etl.change_time()
    where hash = (select max(hash) from explorer.user_operations)`);
  copy.clock.nowMs = 3_600_000;
  await copy.sync();
  expect(await copy.query(differing)).not.toEqual([]);
  expect(await dbt('run')).toMatchObject({ code: 0, failed: [] });
  expect(await copy.query(differing)).toEqual([]);
  expect(await copy.query('select from models.operations offset 300')).not.toEqual([]);

  // A gap, a row that someone else deleted, and a list that nothing polls any more.
  await copy.query(`
    update etl.coverage set verified = verified - int8multirange(int8range(0, 1000))
    where feed = '10/user-operations'`);
  await copy.query(`
    delete from explorer.addresses
    where hash = (select max(address_hash) from explorer.user_operations)`);
  await copy.query(`
    update etl.runs set opened_at = opened_at - interval '3 hours' where feed = '10/factories'`);
  const tested = await dbt('test', '--select', 'package:explorer_etl');
  expect(tested.code).toBe(1);
  expect(tested.failed.map((id) => id.split('.')[2])).toEqual([
    'explorer_has_no_open_finding',
    'explorer_user_operations_address_hash_addresses',
  ]);
  const factories = ['factories', 'factory_history'];
  expect(await dbt('source', 'freshness')).toMatchObject({
    code: 0,
    failed: factories.map((table) => `source.explorer_etl.explorer.${table}`),
  });
  await copy.query(`update etl.runs set opened_at = opened_at - interval '1 day'`);
  expect(await dbt('source', 'freshness')).toMatchObject({ code: 1 });
});
