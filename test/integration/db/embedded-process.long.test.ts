import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  inspectEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../../src/postgres/postgres.ts';
import { queryOnce as query } from '../../harness/client.ts';
import { freshDirectory } from '../../harness/database.ts';
import { initializedDirectory, untilRefused } from '../../harness/initialized.ts';
import { hangMs } from '../../harness/process.ts';

/** What these tests store need not survive the machine. */
const settings = { fsync: 'off' };
const isRoot = process.geteuid?.() === 0;
/** `daemon`: an account every Unix has, that is neither root nor the one root's server runs as. */
const ordinary = { uid: 1, gid: 1 };

const launcher = new URL('../../../src/postgres/postgres.ts', import.meta.url).href;
const startedSchema = z.object({
  url: z.string(),
  dataDirectory: z.string(),
  attached: z.boolean(),
});
type Started = z.infer<typeof startedSchema>;

/** A node process that starts Postgres, prints what it got, then does `afterwards`. */
function program(directory: string, afterwards: string): string[] {
  const code = `
    import { startEmbeddedPostgres } from ${JSON.stringify(launcher)};
    const postgres = await startEmbeddedPostgres(${JSON.stringify({ directory, settings })});
    console.log(JSON.stringify(postgres));
    ${afterwards}`;
  return ['--input-type=module', '--eval', code];
}

async function runProgram(
  directory: string,
  afterwards: string,
  account: Partial<typeof ordinary> = {},
): Promise<Started> {
  const child = spawn(process.execPath, program(directory, afterwards), {
    ...account,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, failure] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(failure).toBe('');
  return startedSchema.parse(JSON.parse(out));
}

/** A node process that has started Postgres and stays. */
async function stayingProgram(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, program(directory, 'setInterval(() => {}, 60_000);'), {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** A living process of the account that root's server runs as, or of ours. */
function bystander(): ChildProcess {
  const child = spawn('sleep', ['60'], isRoot ? { uid: 65534, gid: 65534 } : {});
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** False where the project lies in a directory that an ordinary user cannot read. */
function isProjectOpen(): boolean {
  try {
    const code = `await import(${JSON.stringify(launcher)})`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      ...ordinary,
      cwd: '/',
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

describe('processes that start at the same moment', () => {
  test('share one server', async () => {
    const directory = await freshDirectory();
    const started = await Promise.all(
      Array.from({ length: 4 }, () => runProgram(directory, 'process.exit();')),
    );
    expect(new Set(started.map(({ url }) => url)).size).toBe(1);
    expect(started.filter(({ attached }) => !attached)).toHaveLength(1);
  });
});

describe('after a kill', () => {
  test('of the program, the server runs on for the next one', async () => {
    const directory = await initializedDirectory();
    const child = await stayingProgram(directory);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const next = await startEmbeddedPostgres({ directory });
    expect(next.attached).toBe(true);
    expect(await query(next.url, 'select 1')).toEqual([[1]]);
  });

  test('of the server, the next start recovers what was committed', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    await query(first.url, 'create table kept as select 1 as n');
    process.kill(first.pid, 'SIGKILL');
    await untilRefused(first.url);
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(second).toMatchObject({ attached: false, url: first.url });
    expect(await query(second.url, 'select n from kept')).toEqual([[1]]);
  });

  test('of the server, four starts at once still make one server', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    process.kill(first.pid, 'SIGKILL');
    await untilRefused(first.url);
    const started = await Promise.all(
      Array.from({ length: 4 }, () => runProgram(directory, 'process.exit();')),
    );
    expect(started.filter(({ attached }) => !attached)).toHaveLength(1);
  });

  test('of the server, its busy processes end before another server starts', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    const busy = query(
      first.url,
      `set application_name = 'busy';
       do $$ begin for i in 1..100000000 loop end loop; end $$`,
    ).then(
      () => performance.now(),
      () => performance.now(),
    );
    await expect
      .poll(
        () => query(first.url, `select from pg_stat_activity where application_name = 'busy'`),
        { timeout: hangMs },
      )
      .toHaveLength(1);
    process.kill(first.pid, 'SIGKILL');
    await untilRefused(first.url);
    await startEmbeddedPostgres({ directory, settings });
    expect(performance.now()).toBeGreaterThan(await busy);
    const log = await readFile(join(directory, 'data/postgres.log'), 'utf8');
    expect(log).toContain('pre-existing shared memory block');
  });

  test('a process id that another program has now does not prevent a start', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    const file = join(first.dataDirectory, 'postmaster.pid');
    const { pid } = first;
    const before = await readFile(file, 'utf8');
    await first.stop();
    await writeFile(file, before.replace(String(pid), String(bystander().pid)));
    if (isRoot) await chown(file, 65534, 65534);
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(await query(second.url, 'select 1')).toEqual([[1]]);
  });

  test('an empty postmaster.pid does not prevent a start', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    await first.stop();
    await writeFile(join(first.dataDirectory, 'postmaster.pid'), '');
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(await query(second.url, 'select 1')).toEqual([[1]]);
  });
});

describe('the server', () => {
  test('does not receive an interrupt from our terminal', async () => {
    const directory = await initializedDirectory();
    const child = await stayingProgram(directory);
    process.kill(-Number(child.pid), 'SIGINT');
    await once(child, 'exit');
    const next = await startEmbeddedPostgres({ directory });
    expect(next.attached).toBe(true);
  });

  test('holds none of our descriptors, so a pipe ends when we do', async () => {
    const directory = await initializedDirectory();
    const child = spawn(process.execPath, program(directory, 'process.exit();'), {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    // Closed only when nobody holds the other end of any of the three pipes.
    await once(child, 'close', { signal: AbortSignal.timeout(hangMs) });
    expect((await startEmbeddedPostgres({ directory })).attached).toBe(true);
  });

  test.runIf(process.platform === 'linux')('does not inherit our secrets', async () => {
    const directory = await initializedDirectory();
    process.env['EXPLORER_API_KEY'] = 'canary';
    onTestFinished(() => void delete process.env['EXPLORER_API_KEY']);
    const { pid } = await startEmbeddedPostgres({ directory, settings });
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environment).toContain('LC_ALL=C');
    expect(environment).not.toContain('canary');
  });
});

describe.runIf(isRoot && isProjectOpen())('an ordinary user', () => {
  test('runs the server as themselves, in a directory of their own', async () => {
    const directory = join(await freshDirectory(), 'etl');
    await mkdir(directory, { mode: 0o700 });
    await chown(directory, ordinary.uid, ordinary.gid);
    const started = await runProgram(directory, 'await postgres.stop();', ordinary);
    expect(started).toMatchObject({ attached: false, dataDirectory: join(directory, 'data') });
    const second = await runProgram(directory, 'await postgres.stop();', ordinary);
    expect(second.url).toBe(started.url);
  });

  test('keeps their directory: root refuses it, as its user could swap what root opens, and runs', async () => {
    const directory = await freshDirectory();
    const own = join(directory, 'etl');
    await mkdir(own);
    await chown(own, ordinary.uid, ordinary.gid);
    await runProgram(own, 'process.exit();', ordinary);
    for (const use of [stopEmbeddedPostgres, inspectEmbeddedPostgres]) {
      await expect(use(own)).rejects.toThrow(/belongs to another user/u);
    }
    const root = startEmbeddedPostgres({ directory: own, settings });
    await expect(root).rejects.toThrow(/belongs to another user: run this as that user/u);
    const second = await runProgram(own, 'await postgres.stop();', ordinary);
    expect(second.attached).toBe(true);
  });

  test('learns that a directory is not theirs', async () => {
    const directory = await initializedDirectory();
    const child = spawn(process.execPath, program(directory, ''), {
      ...ordinary,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    expect(await text(child.stderr)).toMatch(/EmbeddedPostgresError: .*another user/);
  });
});
