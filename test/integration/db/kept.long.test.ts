import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { stopEmbeddedPostgres } from '../../../src/postgres/postgres.ts';
import { withClient } from '../../harness/client.ts';
import { call, expectOneMessage, emptyFolder } from '../../harness/process.ts';
import { freshDirectory } from '../../harness/database.ts';

/** A folder whose embedded Postgres is stopped when the running test ends. */
async function project() {
  const cwd = await freshDirectory();
  const directory = join(cwd, '.explorer-etl');
  onTestFinished(() => stopEmbeddedPostgres(directory).then(() => undefined));
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => call(args, { cwd, env });
  return { cwd, directory, run };
}

const stateSchema = z.object({
  running: z.boolean(),
  pid: z.number().nullable(),
});

async function stateOf({ run }: Awaited<ReturnType<typeof project>>) {
  return stateSchema.parse(JSON.parse((await run(['db', 'status', '--json'])).stdout));
}

test('the first command starts the embedded Postgres, later ones use it until db stop, and its data stays', async () => {
  const place = await project();
  expect((await place.run(['db', 'status'])).stdout).toBe('There is none here yet.\n');
  expect((await place.run(['migrate'])).stderr).toMatch(
    /^Embedded Postgres started \(explorer-etl db stop stops it\); its data is in/u,
  );
  const { pid, running } = await stateOf(place);
  expect(running).toBe(true);
  expect((await place.run(['query', 'what-is-missing'])).code).toBe(0);
  expect(await place.run(['db', 'start'])).toMatchObject({ code: 0, stderr: '' });
  expect(await stateOf(place)).toEqual({ running: true, pid });
  expect((await place.run(['db', 'stop'])).stdout).toBe('Stopped.\n');
  expect((await place.run(['db', 'stop'])).stdout).toBe('It was not running.\n');
  expect(await stateOf(place)).toEqual({ running: false, pid: null });
  expect((await place.run(['query', 'what-is-missing'])).code).toBe(0);
  expect(await stateOf(place)).toMatchObject({ running: true });
});

test('--demo creates no database', async () => {
  const place = await project();
  expect((await place.run(['migrate'])).code).toBe(0);
  for (const command of [
    ['query', 'select 1'],
    ['db', 'shell'],
    ['export', '--to', 'lake'],
    ['status'],
    ['verify'],
    ['plan'],
    ['check'],
  ]) {
    const ended = await place.run([...command, '--demo']);
    expect(ended.stderr).toMatch(/has no database "demo" yet\. Try: explorer-etl demo$/mu);
    expect(ended.code).toBe(2);
  }
});

test("status, verify, plan and check read the demo's data with --demo, whatever the configuration says", async () => {
  const place = await project();
  await place.run(['db', 'start']);
  const url = (await place.run(['db', 'url'])).stdout.trim();
  await withClient(url, (client) => client.query('create database demo'));
  await place.run(['migrate'], { DATABASE_URL: url.replace(/postgres$/u, 'demo') });
  await writeFile(join(place.cwd, 'explorer-etl.yaml'), 'chains: [{ id: 8453 }]\n');

  const [status, verify, plan, check] = [
    await place.run(['status', '--demo']),
    await place.run(['verify', '--demo']),
    await place.run(['plan', '--demo', '--json']),
    await place.run(['check', '--demo']),
  ];

  // Nothing was read yet.
  expect([status, verify, plan, check].map(({ code }) => code)).toEqual([0, 2, 0, 0]);
  expect(plan.stdout).toMatch(/"feed": "10\/user-operations"/u);
  expect(plan.stdout).not.toMatch(/8453/u);
  expect(check.stdout).toMatch(/database: demo on .*, embedded/u);
});

describe('db url', () => {
  test('prints an address that other programs can use, and of the demo', async () => {
    const place = await project();
    await place.run(['db', 'start']);
    const { stdout } = await place.run(['db', 'url']);
    await withClient(stdout.trim(), async () => undefined);
    expect((await place.run(['db', 'url', '--demo'])).stdout).toBe(
      stdout.replace(/postgres\n$/u, 'demo\n'),
    );
    const password = new URL(stdout.trim()).password;
    for (const args of [
      ['db', 'status'],
      ['db', 'status', '--json'],
      ['db', 'start'],
    ]) {
      const { stdout: out, stderr: err } = await place.run(args);
      expect(out + err).not.toContain(password);
    }
  });

  test('says that no server runs', async () => {
    const place = await project();
    expectOneMessage(await place.run(['db', 'url']), /does not run.*explorer-etl db start/);
  });

  test("does not repeat the password of a server of one's own", async () => {
    const { stdout, stderr } = await call(['db', 'url'], {
      env: { DATABASE_URL: 'postgres://etl:hidden@db:5433/chains?sslmode=require' },
    });
    expect(stdout).toBe('postgres://etl@db:5433/chains?sslmode=require\n');
    expect(stderr).not.toContain('hidden');
  });
});

test.each(['start', 'stop', 'status'])(
  'db %s refuses a server that DATABASE_URL names',
  async (name) => {
    const env = { DATABASE_URL: 'postgres://etl:hidden@db:5433/chains' };
    expectOneMessage(
      await call(['db', name], { env }),
      /no embedded Postgres is in use: DATABASE_URL names a server of your own/,
    );
  },
);

describe('db shell', () => {
  /** A folder with a program that stands for psql: it writes down how it was called. */
  async function standIn(exitCode: number) {
    const folder = await emptyFolder();
    const program = join(folder, 'psql');
    await writeFile(
      program,
      `#!/bin/sh\nprintf '%s\\n' "$@" > "$HOME/args"\n/usr/bin/env > "$HOME/env"\nexit ${exitCode}\n`,
    );
    await chmod(program, 0o755);
    const recorded = (file: string) => readFile(join(folder, file), 'utf8');
    return { env: { PATH: folder, HOME: folder, EXPLORER_API_KEY: 'a-key' }, recorded };
  }

  test('opens psql with the password in its environment only, and without the API key', async () => {
    const place = await project();
    await place.run(['db', 'start']);
    const url = (await place.run(['db', 'url'])).stdout.trim();
    const { password } = new URL(url);
    const { env, recorded } = await standIn(0);
    expect(await place.run(['db', 'shell', '--', '-c', 'select 1'], env)).toMatchObject({
      code: 0,
    });
    expect(await recorded('args')).toBe(`${url.replace(`:${password}`, '')}\n-c\nselect 1\n`);
    expect(await recorded('env')).toContain(`PGPASSWORD=${password}\n`);
    expect(await recorded('env')).not.toMatch(/EXPLORER|DATABASE_URL|a-key/);
  });

  test('starts a server that does not run', async () => {
    const place = await project();
    await place.run(['migrate']);
    await place.run(['db', 'stop']);
    const { env } = await standIn(3);
    expect(await place.run(['db', 'shell'], env)).toMatchObject({ code: 1 });
    expect(await stateOf(place)).toMatchObject({ running: true });
  });

  test('says what to do if psql is not installed', async () => {
    const place = await project();
    await place.run(['migrate']);
    const ended = await place.run(['db', 'shell'], { PATH: place.cwd });
    expectOneMessage(ended, /psql is not installed: .*postgresql-client.*query.*db url/);
  });

  test('creates no database', async () => {
    const place = await project();
    expectOneMessage(await place.run(['db', 'shell']), /there is no database yet/);
  });
});
