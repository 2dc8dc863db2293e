import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { failures, type FailureClass } from '../../src/failure.ts';
import { grantedDatabase, type OpenDatabase, userWith } from '../harness/database.ts';
import { call, command, eventually } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';
import { testKey } from '../harness/explorer.ts';
import { logLines } from './log-lines.ts';

const chain = { ...plainChain, userOperations: 400, factories: 30 };
const operations = { 'user-operations': { parallel: 1 }, factories: {} };

interface Scene {
  /** As its owner. */
  readonly owner: OpenDatabase;
  /** The user of the program. */
  readonly user: string;
  readonly urlFile: string;
  readonly url: string;
}

interface Fault {
  readonly failure: FailureClass;
  readonly code: string;
  readonly begin: (scene: Scene) => Promise<unknown>;
  readonly end: (scene: Scene) => Promise<unknown>;
  /** How `status` of another process ends meanwhile, and whether it can know the fault. */
  readonly exit: number;
  readonly isShown: boolean;
}

/** Has Postgres refuse writes of the bookkeeping. */
const refuse = (message: string, code: string) => `
  create function public.fail() returns trigger language plpgsql as $$
  begin raise exception '${message}' using errcode = '${code}'; end $$;
  create trigger fail before insert or update on etl.runs execute function public.fail();
  create trigger fail before insert or update on etl.pages execute function public.fail();
  create trigger fail before insert or update on etl.feeds execute function public.fail()`;
const accept = 'drop function public.fail cascade';

type Name =
  | 'its password is replaced'
  | 'it becomes read-only'
  | 'its disk is full'
  | 'a right is revoked'
  | 'a table is lost';

const faults: Readonly<Record<Name, Fault>> = {
  'its password is replaced': {
    failure: 'database-login',
    code: '28P01',
    begin: ({ owner, user }) => owner.query(`alter role ${user} password 'new'`),
    end: ({ urlFile, url }) => writeFile(urlFile, url.replace(':test@', ':new@')),
    exit: 2,
    isShown: true,
  },
  'it becomes read-only': {
    failure: 'database-read-only',
    code: '25006',
    begin: ({ owner }) =>
      owner.query(refuse('cannot execute INSERT in a read-only transaction', '25006')),
    end: ({ owner }) => owner.query(accept),
    exit: 0,
    isShown: false,
  },
  'its disk is full': {
    failure: 'database-full',
    code: '53100',
    begin: ({ owner }) =>
      owner.query(refuse('could not extend file: No space left on device', '53100')),
    end: ({ owner }) => owner.query(accept),
    exit: 0,
    isShown: false,
  },
  'a right is revoked': {
    failure: 'database-permission',
    code: '42501',
    begin: ({ owner }) => owner.query('revoke all on etl.runs from explorer_etl_worker'),
    end: ({ owner }) => owner.query('grant all on etl.runs to explorer_etl_worker'),
    exit: 0,
    isShown: true,
  },
  'a table is lost': {
    failure: 'database-object',
    code: '42P01',
    begin: ({ owner }) => owner.query('alter table etl.runs rename to runs_lost'),
    end: ({ owner }) => owner.query('alter table etl.runs_lost rename to runs'),
    exit: 0,
    isShown: true,
  },
};

/** A `start` of a user of its own at a list whose pages take a while. */
async function openScene() {
  let latencyMs = 100;
  const database = await grantedDatabase();
  const { place } = await openWorld({
    seed: 3,
    chain,
    operations,
    explorer: { page_size: 10 },
    database,
    latency: () => latencyMs,
  });
  const { url } = await userWith(database, 'explorer_etl_worker');
  const user = new URL(url).username;
  const urlFile = join(place.cwd, 'url');
  await writeFile(urlFile, url);
  const scene = { owner: database, user, url, urlFile };
  const env = {
    DATABASE_URL_FILE: urlFile,
    EXPLORER_BASE_URL: place.explorerUrl,
    EXPLORER_API_KEY: testKey,
  };
  let output = () => '';
  const stop = Promise.withResolvers<void>();
  const ended = command(['start', '--http', '127.0.0.1:0', '--log-level', 'debug'], {
    cwd: place.cwd,
    env,
    until: async (written) => {
      output = written;
      await stop.promise;
    },
  });
  onTestFinished(async () => {
    stop.resolve();
    await ended;
  });
  const logged = (name: string) => logLines(output()).filter(({ event }) => event === name);
  const stored = async () => {
    const rows = await database.query('select count(*)::int as n from explorer.user_operations');
    return rows[0]?.n ?? 0;
  };
  await eventually('the first rows', async () => (await stored()) > 0);
  const page = String(logged('http.listening')[0]?.['url']);
  return {
    ...scene,
    logged,
    status: () => call(['status', '--json'], { cwd: place.cwd, env }),
    ready: async () => {
      const answer = await fetch(`${page}readyz`);
      return { status: answer.status, text: await answer.text() };
    },
    cutAll: () =>
      database.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [
        user,
      ]),
    async finish() {
      latencyMs = 0;
      await eventually('the whole list', async () => (await stored()) === chain.userOperations);
      stop.resolve();
      return ended;
    },
  };
}

/** A `start` waits ever longer while its database fails, says why on every screen, and goes on afterwards. */
export async function expectOutlasted(name: Name): Promise<void> {
  const { failure, code, begin, end, exit, isShown } = faults[name];
  const scene = await openScene();

  await begin(scene);
  await scene.cutAll();
  const away = () => scene.logged('database.away');
  await eventually('a second attempt', async () => away().length > 1);
  expect(away().map(({ again_in_ms }) => again_in_ms)).toEqual([500, 1000]);
  const [first] = away();
  expect(first?.['error']).toContain(`(${code})`);
  expect(first?.['error']).toContain(failures[failure].advice);
  const ready = await eventually('the page to show it', async () => {
    const answer = await scene.ready();
    return answer.text.includes('database-failing') && answer;
  });
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.text)).toMatchObject({
    reasons: [
      {
        code: 'database-failing',
        sentence: expect.stringContaining(code),
        advice: failures[failure].advice,
      },
    ],
  });
  const status = await scene.status();
  expect(status.code).toBe(exit);
  expect((status.stdout + status.stderr).includes(`(${code})`)).toBe(isShown);

  await end(scene);
  await eventually('the database to be back', async () => scene.logged('database.back').length > 0);

  const { code: ended, stderr } = await scene.finish();
  expect(ended).toBe(0);
  expect(stderr).not.toContain('unknown database error');
}
