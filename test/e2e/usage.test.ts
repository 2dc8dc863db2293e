import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { faultNames } from '../../simulator/index.ts';
import { commands } from '../../src/cli/program.ts';
import { call, expectOneMessage, command, emptyFolder, eventually } from '../harness/process.ts';

/** An explorer that gives no answer, and a key for it. */
const key = { EXPLORER_API_KEY: 'a-key', EXPLORER_BASE_URL: 'http://127.0.0.1:9' };
/** Nothing listens on port 1. */
const refused = 'postgres://someone:hidden-password@127.0.0.1:1/chains';

describe('wrong use ends with exit code 2 and one message', () => {
  test.each<[line: string, message: RegExp]>([
    ['sync --chian 10', /^error: unknown option '--chian'/],
    ['sync --log-level loud', /'loud' is invalid.*debug, info/],
    ['sync --chain abc', /--chain abc: no chain has this name; .*such as 10/],
    [
      'init --chain 10 --chain 1 --operation optimism-batches',
      /can write none of optimism-batches for chain 1: leave the chain out/,
    ],
    ['init --chain optimsm', /no chain has this name; did you mean optimism \(10\)\?/],
    [
      'sync --chain 10 --from-batch 9 --to-batch 3',
      /--from-batch 9 is above --to-batch 3: exchange them/,
    ],
    ['backfill --chain 10 --from-block 9 --to-block 3', /--from-block 9 is above --to-block 3/],
    ['backfill --chain 10 --again --from-block 9', /--again reads all known history/],
    [
      'backfill --chain 10 --operation factories --to-block 9',
      /--to-block applies only to user-operations, bundles: remove it/,
    ],
    [
      'backfill --chain 10 --operation factories',
      /factories have no history: choose user-operations, optimism-batches, optimism-batch-blocks, or bundles/,
    ],
    [
      'backfill --chain 10 --again --operation optimism-batch-blocks',
      /--again applies only to user-operations, optimism-batches/,
    ],
    [
      'export --to lake --since 2026-02-01 --until 2026-01-01',
      /--since 2026-02-01 is after --until 2026-01-01: exchange them/,
    ],
    ['export --to lake --since soon', /--since.*'soon' is invalid\. It is not a date or time/],
    ['backfill --chain 10 --to-batch 9', /^error: unknown option '--to-batch'/],
    [
      'sync --chain 10 --since yesterday',
      /--since.*'yesterday' is invalid\. It is not a date or time such as 2026-11-01, or how long ago, such as 7d/,
    ],
    [
      'sync --chain 10 --since 2999-01-01',
      /--since.*'2999-01-01' is invalid\. The time is in the future/,
    ],
    [
      'sync --chain 10 --operation factories --since 2026-01-01',
      /--since applies only to user-operations, optimism-batches, bundles: remove it/,
    ],
    [
      'sync --chain 10 --operation user-operations --to-batch 9',
      /--to-batch applies only to optimism-batch-blocks: remove it/,
    ],
    [
      'sync --chain 10 --operation blocks',
      /--operation.*'blocks' is invalid.*user-operations, optimism-batches, optimism-batch-blocks, factories/,
    ],
    ['sync --chain 10 --max-pages 0', /--max-pages.*'0' is invalid.*at least 1/],
    [
      'sync --config gone.yaml',
      /cannot read gone\.yaml \(ENOENT\): no such file; check --config .*explorer-etl init/,
    ],
    ['sync', /no chain to copy: .*--chain 10.*explorer-etl init/],
    [
      'start --log-format pretty',
      /no chain to copy: write explorer-etl\.yaml\..*explorer-etl init/,
    ],
    ['plan', /no chain to copy: .*--chain 10.*explorer-etl init/],
    ['simulate --chains 10:moon', /"10:moon" is not a chain such .* Families are optimism, .*v12/],
    ['simulate --port 65536', /--port.*'65536' is invalid.*from 0 to 65535/],
    ['simulate --fault mischief', /'mischief' is invalid.*no such fault.*"help simulate"/],
    ['simulate --fault reset=2', /'reset=2' is invalid.*above 0 and at most 1/],
    ['simulate --fault reset=often', /above 0 and at most 1/],
    ['simulate --fault reset=0.1=0.2', /one number above 0/],
  ])('%s', async (line, message) => {
    const ended = await call(line.split(' '), { env: key });
    expectOneMessage(ended, message, ended.stderr.includes('\n(Did you mean') ? 2 : 1);
  });

  test('an unknown command suggests the nearest one', async () => {
    expectOneMessage(await command(['snyc']), /unknown command 'snyc'\n\(Did you mean sync\?\)/, 2);
    const ended = await call(['feeds', 'puase']);
    expectOneMessage(ended, /unknown command 'puase'\n\(Did you mean pause\?\)/, 2);
    for (const line of ['help snyc', 'snyc --help', 'snyc --chain 10 -h']) {
      const helped = await call(line.split(' '));
      expectOneMessage(helped, /unknown command 'snyc'\n\(Did you mean sync\?\)/, 2);
    }
    for (const line of ['help feeds puase', 'feeds puase --help']) {
      const helped = await call(line.split(' '));
      expectOneMessage(helped, /unknown command 'puase'\n\(Did you mean pause\?\)/, 2);
    }
  });

  test('a missing API key', async () => {
    const args = ['sync', '--chain', '10', '--operation', 'factories'];
    expectOneMessage(await command(args), /EXPLORER_API_KEY is not set: put your API key there/);
  });

  test('without a command, the help lists all of them', async () => {
    const { code, stderr, stdout } = await command([]);
    expect(stderr).toContain('Mirror:');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('a wrong database ends with exit code 2, and its password is not printed', () => {
  const missing = () => new URL('/no_such_database', inject('databaseServer').url).href;

  test.each<[url: () => string, message: RegExp]>([
    [() => 'postgres//hidden-password@host', /DATABASE_URL: not a URL: it should read postgres/],
    [() => 'mysql://u:hidden-password@host/db', /DATABASE_URL: the scheme is mysql, not postgres/],
    [() => refused, /connection refused .*127\.0\.0\.1:1\. Check DATABASE_URL/],
    [missing, /the database can't be used: database "no_such_database" does not exist/],
  ])('%s', async (url, message) => {
    const args = ['sync', '--chain', '10', '--operation', 'factories'];
    const ended = await command(args, { env: { ...key, DATABASE_URL: url() } });
    expectOneMessage(ended, message);
    expect(ended.stderr).not.toContain('hidden-password');
  });
});

test('a signal ends query while it waits for a statement on stdin', async () => {
  const silent = vi.spyOn(process, 'stdin', 'get');
  silent.mockReturnValue(new PassThrough() as never);
  onTestFinished(() => silent.mockRestore());
  const signal = AbortSignal.abort(new Error('SIGINT'));
  expect((await call(['query', '--file', '-'], { signal })).code).toBe(130);
});

test('a command does its work if nothing reads its stderr any more', async () => {
  const env = { DATABASE_URL: 'postgres://someone@localhost/chains' };
  const child = spawn(process.execPath, [inject('program'), 'db', 'url'], { env });
  child.stderr.destroy();
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect({ stdout, code }).toEqual({ stdout: `${env.DATABASE_URL}\n`, code: 0 });
});

test('init never overwrites a file', async () => {
  const cwd = await emptyFolder();
  await writeFile(join(cwd, 'explorer-etl.yaml'), 'mine\n');
  expectOneMessage(await command(['init'], { cwd }), /explorer-etl\.yaml exists already/);
  expect(await readFile(join(cwd, 'explorer-etl.yaml'), 'utf8')).toBe('mine\n');
});

test('init writes a file that check accepts', async () => {
  const cwd = await emptyFolder();
  expect(await command(['init', '--chain', '10'], { cwd, env: key })).toMatchObject({
    code: 0,
    stderr: '',
  });
  const env = { ...key, DATABASE_URL: inject('databaseServer').url };
  const checked = await command(['check', '--no-requests'], { cwd, env });
  expect(checked.stdout).toMatch(
    /^ok {4}configuration: explorer-etl\.yaml: 1 chain, \d feeds\nok {4}database: .*, Postgres/,
  );
  expect(checked.code).toBe(0);
});

test('init takes each chain once, by name or number, and names those that it does not know', async () => {
  const cwd = await emptyFolder();
  const chains = ['optimism', '10', 'World Chain', '999999'].flatMap((one) => ['--chain', one]);
  const ended = await call(['init', ...chains, '--json'], { cwd, env: key });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    chains: [10, 480, 999_999],
    unknown_chains: [999_999],
  });
  expect(ended.stderr).toMatch(/Not known to explorer-etl: chain 999999.*explorer-etl check/);
  const file = await readFile(join(cwd, 'explorer-etl.yaml'), 'utf8');
  expect([...file.matchAll(/id: (\d+)\n +name: (.+)/g)].map(([, id, name]) => [id, name])).toEqual([
    ['10', 'optimism'],
    ['480', 'world-chain'],
    ['999999', 'chain-999999'],
  ]);
});

test('simulate says that its port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ended = await command(['simulate', '--port', String(port)]);
  expectOneMessage(
    ended,
    new RegExp(`can't listen on port ${port}: .*EADDRINUSE.*--port, or 0 for any`),
  );
});

test('help simulate names every fault', async () => {
  const { stdout } = await call(['help', 'simulate']);
  expect(stdout.split(/[\s,]+/u)).toEqual(expect.arrayContaining([...faultNames]));
});

test('simulate answers as --fault says', async () => {
  const statuses: number[] = [];
  await command(['simulate', '--port', '0', '--fault', '503', '--json'], {
    until: async (output) => {
      await eventually('its address', async () => output().includes('\n}\n'));
      const { url } = JSON.parse(output()) as { url: string };
      statuses.push((await fetch(`${url}/10/api/v2/blocks/optimism-batch/1`)).status);
    },
  });
  expect(statuses).toEqual([503]);
});

test.each([
  ['the last full hour', [], () => Date.now()],
  ['--until', ['--until', '2026-02-01'], () => Date.UTC(2026, 1, 1)],
] as const)('the newest items of simulate are from before %s', async (_what, flags, at) => {
  const ages: number[] = [];
  await command(['simulate', '--port', '0', '--json', ...flags], {
    until: async (output) => {
      await eventually('its address', async () => output().includes('\n}\n'));
      const { url } = JSON.parse(output()) as { url: string };
      const list = `${url}/10/api/v2/proxy/account-abstraction/operations?apikey=simulated-key`;
      const page = (await (await fetch(list)).json()) as { items: { timestamp?: string | null }[] };
      const times = page.items.flatMap(({ timestamp }) => timestamp ?? []);
      ages.push(...times.map((time) => at() - Date.parse(time)));
    },
  });
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...ages)).toBeLessThan(2 * 3_600_000);
});

test('fees and rewards of simulate are such as a chain has', async () => {
  const amounts: number[] = [];
  await command(['simulate', '--port', '0', '--json'], {
    until: async (output) => {
      await eventually('its address', async () => output().includes('\n}\n'));
      const { url } = JSON.parse(output()) as { url: string };
      for (const path of ['proxy/account-abstraction/operations', 'blocks/optimism-batch/1']) {
        const page = await fetch(`${url}/10/api/v2/${path}?apikey=simulated-key`);
        const wei = /"(?:\w*fees?|reward|base_fee_per_gas)":"(\d+)"/gu;
        amounts.push(...[...(await page.text()).matchAll(wei)].map(([, value]) => Number(value)));
      }
    },
  });
  expect(amounts.length).toBeGreaterThan(200);
  expect(Math.max(...amounts)).toBeLessThan(1e16);
});

describe('help', () => {
  const names = commands.map(({ name }) => name);

  test.each(names)('of %s shows two examples or more', async (name) => {
    const { code, stdout, stderr } = await call([name, '--help']);
    const [, examples = ''] = stdout.split('\nExamples:\n');
    const shown = examples.split('\n').filter((line) => line.includes(`explorer-etl ${name}`));
    expect(shown.length).toBeGreaterThanOrEqual(2);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('of a command is the same by --help and by help, and says where the flags of all commands are', async () => {
    const { stdout } = await call(['help', 'db', 'url']);
    expect(await call(['db', 'url', '--help'])).toMatchObject({ stdout, code: 0 });
    expect(stdout).toContain('--demo');
    expect(stdout).not.toContain('--log-level');
    expect(stdout).toContain('explorer-etl help');
  });

  test('of a command after a flag does not run it', async () => {
    const { stdout } = await call(['feeds', '--help']);
    expect(await call(['help', '--quiet', 'feeds'])).toMatchObject({ stdout, code: 0 });
  });

  test('of the program names every command', async () => {
    const { code, stdout } = await call(['--help']);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[\w+\])* {2,}/gm)].map(
      ([, name]) => name,
    );
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(code).toBe(0);
  });
});
