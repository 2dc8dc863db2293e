import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { DatabaseTimeouts } from '../../src/db/pool.ts';
import { prepareUrl } from '../harness/client.ts';
import { databaseAt, freshDatabase } from '../harness/database.ts';
import { ownServer } from '../harness/initialized.ts';
import { eventually } from '../harness/process.ts';
import { openDatabaseScene, shortTimeouts, type DatabaseScene } from './database-scene.ts';

const openScene = async (dbTimeouts?: DatabaseTimeouts) =>
  openDatabaseScene(await freshDatabase(), dbTimeouts);

/** Every feed ends by itself, and nothing is lost, doubled or half-written. */
async function expectWhole(scene: DatabaseScene) {
  await scene.end();
  expect(await scene.faults()).toEqual({});
}

/** Makes inserts into the table fail as Postgres would, as long as `condition` holds. */
async function failInserts(
  { database: { pool } }: DatabaseScene,
  { state, condition }: { readonly state: string; readonly condition: string },
) {
  await pool.query(`
    create sequence public.attempts;
    create function public.fail() returns trigger language plpgsql as $$
    begin
      if nextval('public.attempts') ${condition} then
        raise exception 'made by a test' using errcode = '${state}';
      end if;
      return null;
    end $$;
    create trigger fail before insert on explorer.user_operations
    for each statement execute function public.fail();
  `);
}

async function logSays(scene: DatabaseScene, text: string) {
  await eventually(`the log to say ${text}`, async () => scene.log().includes(text));
}

test('a sync survives connections that are cut repeatedly', async () => {
  const scene = await openScene();
  for (let cut = 0; cut < 8; cut += 1) {
    await eventually('connections', async () => scene.proxy.connections > 3);
    scene.proxy.cutAll();
  }
  await scene.morePages(1);

  await expectWhole(scene);
});

test('a transaction whose connection is cut leaves nothing', async () => {
  const scene = await openScene();
  const holder = await scene.database.pool.connect();
  await holder.query('begin');
  await holder.query('lock table etl.pages in share mode');
  const port = await eventually('a writer in its transaction', async () => {
    const rows = await scene.database.query(`
      select client_port from pg_locks join pg_stat_activity using (pid)
      where not granted and relation = 'etl.pages'::regclass and datname = current_database()
    `);
    return rows[0]?.client_port;
  });

  expect(scene.proxy.cut(port)).toBe(true);

  await holder.query('rollback');
  holder.release();
  await expectWhole(scene);
});

test('connections that stop answering are closed on both sides', async () => {
  const scene = await openScene(shortTimeouts);
  scene.proxy.set('swallow');
  await logSays(scene, 'schedule.failure');

  scene.proxy.set('open');

  await expectWhole(scene);
});

test('a worker waits for a database that refuses connections', async () => {
  const scene = await openScene();
  scene.proxy.set('refuse');
  scene.proxy.cutAll();
  await logSays(scene, 'schedule.failure');

  scene.proxy.set('open');

  await expectWhole(scene);
});

/**
 * The list's end, which nothing supports, is requested once more. So is a batch's, where the batch below is
 * not stored yet: that is why only operations are counted.
 */
const endsRequested = 1;

test.each(['40001', '40P01'])(
  'a page whose commit fails with %s is committed again at once, without a new request',
  async (state) => {
    const scene = await openScene();
    await failInserts(scene, { state, condition: '<= 4' });

    await expectWhole(scene);

    const rows = await scene.database.query(`
    select last_value as attempts, (
      select count(*)::int from etl.pages where feed = '10/user-operations'
    ) as pages
    from public.attempts`);
    expect(Number(rows[0]?.attempts)).toBeGreaterThan(4);
    // No page was read again for it.
    expect(scene.simulator.counts['user-operations']).toBe((rows[0]?.pages ?? 0) + endsRequested);
  },
);

test('a feed waits while the disk is full, and continues once space is free', async () => {
  const scene = await openScene();
  await failInserts(scene, { state: '53100', condition: '> 0' });
  await logSays(scene, '(53100)');

  await scene.database.query('drop trigger fail on explorer.user_operations');

  await expectWhole(scene);
});

test('a statement that waits too long is cancelled, and its feed continues later', async () => {
  const scene = await openScene(shortTimeouts);
  const holder = await scene.database.pool.connect();
  await holder.query('begin');
  await holder.query('lock table explorer.user_operations in share mode');
  await logSays(scene, 'canceling statement due to statement timeout (57014)');

  await holder.query('rollback');
  holder.release();

  await expectWhole(scene);
});

test('a worker waits for a server that has no connection left', async () => {
  const { url } = await ownServer({ max_connections: '45' });
  await prepareUrl(url);
  const scene = await openDatabaseScene(databaseAt(url));
  const taken: Client[] = [];
  onTestFinished(async () => void (await Promise.all(taken.map((client) => client.end()))));
  const takeOne = async () => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    taken.push(client);
  };
  await eventually('no connection left', async () => {
    await takeOne().catch(() => scene.proxy.cutAll());
    return scene.log().includes('53300') || scene.log().includes('too many clients');
  });

  await Promise.all(taken.splice(0).map((client) => client.end()));

  await expectWhole(scene);
});

test('a sync survives a Postgres that is killed in the middle of a transaction and restarted', async () => {
  const server = await ownServer({});
  await prepareUrl(server.url);
  const scene = await openDatabaseScene(databaseAt(server.url));
  const holder = await scene.database.pool.connect();
  await holder.query('begin');
  await holder.query('lock table etl.pages in share mode');
  await eventually('a writer in its transaction', async () => {
    const rows = await scene.database.query(
      `select from pg_locks where not granted and relation = 'etl.pages'::regclass`,
    );
    return rows.length > 0;
  });

  const restarted = server.crash();

  holder.release(true);
  expect(await restarted).toBe(server.url);
  await expectWhole(scene);
});
