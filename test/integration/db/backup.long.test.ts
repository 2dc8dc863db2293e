import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { roles } from '../../../src/db/roles.ts';
import { urlOfDatabase, withClient } from '../../harness/client.ts';
import { clientPrograms, installedServer, runClient } from '../../harness/client-programs.ts';
import { databaseAt, type OpenDatabase } from '../../harness/database.ts';
import { managedServer } from '../../harness/managed.ts';
import { emptyFolder } from '../../harness/process.ts';
import { openProgram } from '../sync/program.ts';
import { shortChain } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 41;
const operations = {
  'user-operations': {},
  'optimism-batch-blocks': { from_batch: 1, to_batch: 3 },
  factories: {},
};
const openOn = (database: OpenDatabase, url?: string) =>
  openProgram({ database, chains: [shortChain], operations, ...(url !== undefined && { url }) });

/** A database of an owner without other rights, in which three lists are. */
async function copied() {
  const server = await installedServer();
  await withClient(server, async (admin) => {
    await admin.query('create role etl login createrole');
    for (const name of ['explorer', 'restored'])
      await admin.query(`create database ${name} owner etl`);
  });
  const url = urlOfDatabase(server.replace('postgres@', 'etl@'), 'explorer');
  const program = await openOn(databaseAt(url));
  expect(await program.run('sync')).toMatchObject({ code: 0 });
  const file = join(await emptyFolder(), 'explorer.dump');
  const dump = (...args: readonly string[]) =>
    runClient('pg_dump', '--format=custom', `--file=${file}`, ...args, url);
  const restored = databaseAt(urlOfDatabase(url, 'restored'));
  const restore = (...args: readonly string[]) =>
    runClient('pg_restore', ...args, `--dbname=${restored.url}`, file);
  return { program, file, dump, restore, restored };
}

/** What `verify` reports, whenever it does. */
async function verified({ documentOf }: Awaited<ReturnType<typeof openOn>>) {
  const { at: _, ...report } = await documentOf<{ readonly at: string }>('verify');
  return report;
}

const everyRow = [{ rows: String(shortChain.userOperations) }];

describe.skipIf(clientPrograms() === null)('a dump (skipped where pg_dump is missing)', () => {
  test('of everything moves to another server, where the copy goes on', async () => {
    const { program, file, dump } = await copied();
    expect(await program.run('migrate', '--roles')).toMatchObject({ code: 0 });
    const before = await verified(program);
    expect(await dump()).toEqual({ code: 0, stderr: '' });

    const server = await managedServer();
    await server.asSuperuser('alter role etl createrole');
    const url = server.url('sslmode=require');
    const target = databaseAt(url);
    for (const role of Object.values(roles)) await target.query(`create role ${role} nologin`);
    const how = ['--no-owner', '--no-acl', '--exit-on-error'];
    const restored = await runClient('pg_restore', ...how, `--dbname=${url}`, file);
    expect(restored).toEqual({ code: 0, stderr: '' });

    const moved = await openOn(target, program.env.EXPLORER_BASE_URL);
    expect(await moved.run('migrate', '--roles')).toMatchObject({ code: 0 });
    expect(await moved.run('check')).toMatchObject({ code: 0 });
    expect(await verified(moved)).toEqual(before);
    expect(await moved.run('sync')).toMatchObject({ code: 0 });
    expect(await differences(target.pool, seed, shortChain)).toEqual({});
  });

  test('of schema explorer alone has the tables, and no view', async () => {
    const { dump, restore, restored } = await copied();
    await dump('--schema=explorer');
    expect(await restore()).toMatchObject({ code: 1 });
    const count = (from: string) => restored.query(`select count(*) as rows from explorer.${from}`);
    expect(await count('user_operations')).toEqual(everyRow);
    await expect(count('operations_enriched')).rejects.toThrow('does not exist');
  });

  test('with the definitions of etl and without its rows has views, and is no copy to go on with', async () => {
    const { dump, restore, restored } = await copied();
    await dump('--schema=explorer', '--schema=etl', '--exclude-table-data=etl.*');
    expect(await restore('--exit-on-error')).toEqual({ code: 0, stderr: '' });
    const rows = await restored.query('select count(*) as rows from explorer.operations_enriched');
    expect(rows).toEqual(everyRow);
    expect(await restored.query('select from explorer.coverage')).toEqual([]);
    const { code, stdout } = await (await openOn(restored)).run('check', '--no-requests');
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('incomplete restore'),
    });
  });
});
