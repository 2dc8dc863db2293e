import { expect, test } from 'vitest';
import { databaseAt } from '../../harness/database.ts';
import { managedServer } from '../../harness/managed.ts';
import { shortChain } from '../../harness/sync.ts';
import { openProgram } from '../sync/program.ts';
const operations = {
  'user-operations': {},
  'optimism-batch-blocks': { from_batch: 1, to_batch: 3 },
  factories: {},
};

test('a role that only owns its database migrates, syncs and verifies, and needs no extension', async () => {
  const server = await managedServer();
  const database = databaseAt(server.url('sslmode=require'));
  const { run, query } = await openProgram({ database, chains: [shortChain], operations });
  for (const name of ['migrate', 'check', 'sync', 'verify']) {
    expect({ name, ...(await run(name)) }).toMatchObject({ name, code: 0 });
  }
  expect(await query('select extname from pg_extension')).toEqual([{ extname: 'plpgsql' }]);
});

test('without a superuser, a publication names its tables', async () => {
  const server = await managedServer({
    wal_level: 'logical',
    max_wal_senders: '4',
    max_replication_slots: '4',
  });
  const database = databaseAt(server.url('sslmode=require'));
  const { run, query } = await openProgram({ database, chains: [shortChain], operations });
  await run('migrate');
  await expect(query('create publication all_of for tables in schema explorer')).rejects.toThrow(
    'must be superuser',
  );
  await query('create publication explorer for table explorer.user_operations, explorer.blocks');
  await server.asSuperuser('alter role etl replication');
  await query(`select pg_create_logical_replication_slot('copy', 'pgoutput')`);
  expect(await run('sync')).toMatchObject({ code: 0 });
  const [found] = await query(
    `select count(*)::int as inserted
     from pg_logical_slot_peek_binary_changes(
       'copy', null, null, 'proto_version', '1', 'publication_names', 'explorer'
     )
     where get_byte(data, 0) = ascii('I')`,
  );
  const [stored] = await query(
    `select (select count(*) from explorer.user_operations)::int
          + (select count(*) from explorer.blocks)::int as rows`,
  );
  expect(found.inserted).toBe(stored.rows);
});
