import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { commands, runProgram } from '../../src/cli/program.ts';
import type { World } from '../../src/cli/context.ts';
import type { Look } from '../../src/terminal/layout.ts';
import { answered, answering } from '../harness/explorer.ts';
import { call as run, emptyFolder } from '../harness/process.ts';
import { sharedCopy, plainChain } from '../harness/sync.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 60,
  factories: 20,
  oddities: ['missing-hash'],
};

/** Colours, clears a screen in 7 and 8 bits, turns text around, ends lines, and hides in plain sight. */
const hostile =
  '\u001b[31mx\u001b[2J\u009b2J\u001b]0;title\u0007\u202e\u2028\u007f\u{e0041}\r\n2026 INFO: complete';
/** All that a command may write but line ends. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const escaped = String.raw`\u001b[31mx\u001b[2J\u009b2J\u001b]0;title\u0007\u202e\u2028\u007f\udb40\udc41\u000d`;
/** What the program colours with. */
const colours = new RegExp(String.raw`\x1b\[(?:0|1|2|22|31|32|33|36|39)m`, 'gu');

const database = sharedCopy(5, [chain], { archive: 'all' });
beforeAll(async () => {
  const say = (statement: string) => database.pool.query(statement, [hostile]);
  await say('update etl.quarantine set reason = $1, raw = jsonb_build_object($1::text, $1::text)');
  await say(`update etl.feeds set reason = $1`);
  await say('update etl.runs set reason = $1');
  await say('update explorer.addresses set name = $1');
  await say('update explorer.chains set name = $1');
  await say(
    `insert into etl.drift (chain_id, operation, path, kind, detail, occurrences, first_page_id)
     values (10, 'factories', $1, 'field', '', 1, 1), (10, 'factories', $1, 'value', $1, 1, 1)`,
  );
});

/** A command on that database, in this process. */
async function call(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(args, { env: { DATABASE_URL: database.url }, cwd: '/' });
  return stdout + stderr;
}

/** An explorer that refuses the key in hostile words. */
let refused: string;
beforeAll(async () => {
  const service = await answering(() => ({ status: 401, body: { message: hostile } }));
  refused = service.url;
  return () => service.close();
});

const terminal: Look = { isTerminal: true, columns: 100, isColoured: true };

/** What a command writes on a terminal with colours; progress, which is redrawn, is left out. */
async function shown(
  args: readonly string[],
  { env = {}, cwd = '/', signal = new AbortController().signal }: Partial<World> = {},
): Promise<string> {
  let output = '';
  const write = (text: string) => void (output += text);
  await runProgram(args, {
    env: { DATABASE_URL: database.url, EXPLORER_API_KEY: 'a-key', ...env },
    cwd,
    signal,
    stdout: write,
    stderr: write,
    program: 'explorer-etl',
    out: terminal,
    err: { ...terminal, isTerminal: false },
  });
  return output;
}

function expectHarmless(output: string): void {
  expect(output).not.toContain('\u001b[31mx');
  const lines = output.replaceAll(colours, '').split('\n');
  expect(lines.filter((line) => harmful.test(line))).toEqual([]);
}

const names = 'select name as "\u001b[31m\u009bx" from explorer.addresses limit 2';
const said = [
  ['status'],
  ['status', '--runs'],
  ['verify'],
  ['quarantine', 'list'],
  ['query', names],
];

test.each(said.map((args) => [args[0], args] as const))(
  '%s escapes control characters from the explorer',
  async (_, args) => {
    const output = await call(...args);
    expect(output).toContain(escaped);
    expect(output.split('\n').filter((line) => harmful.test(line))).toEqual([]);
    expect(output.split('\n').filter((line) => line.startsWith('2026'))).toEqual([]);
  },
);

test.each(said.map((args) => [args[0], args] as const))(
  '%s --json escapes control characters from the explorer, and keeps their meaning',
  async (_, args) => {
    const output = await call(...args, '--json');
    expect(output.split('\n').filter((line) => harmful.test(line))).toEqual([]);
    expect(stringsOf(JSON.parse(output)).some((text) => text.includes(hostile))).toBe(true);
  },
);

describe('control characters in a database colour nothing and move no cursor in the output of', () => {
  /** Each command, as it prints most. */
  const lines: readonly (readonly string[])[] = [
    ['demo', hostile],
    ['init', hostile],
    ['check', '--chain', '10', '--no-requests'],
    ['plan', '--chain', '10'],
    ['sync', '--chain', '10'],
    ['start', '--chain', '10', '--log-format', 'pretty'],
    ['backfill', '--chain', '10', '--since', 'all'],
    ['status'],
    ['status', '--runs'],
    ['open', '--no-browser', '--http', '127.0.0.1:0'],
    ['verify'],
    ['repair', '--chain', '10'],
    ['quarantine', 'list'],
    ['quarantine', 'retry'],
    ['feeds'],
    ['query', 'select * from explorer.quarantine'],
    ['query', 'top-senders', '--sql'],
    ['query', `select '${hostile}'`, '--sql'],
    ['export', hostile, '--to', 'gone'],
    ['db', 'url'],
    ['migrate'],
    ['replay', '--chain', '10'],
    ['mcp', hostile],
    ['simulate', '--chains', hostile],
  ];

  /** Those that serve are told to stop at once. */
  const serving = new Set(['start', 'open']);

  test.each(lines.map((args) => [args.join(' ').replaceAll(hostile, 'NAME'), args] as const))(
    '%s',
    async (_, args) => {
      const [name = ''] = args;
      const signal = serving.has(name) && AbortSignal.abort(new Error('SIGINT'));
      const env = { EXPLORER_BASE_URL: refused };
      expectHarmless(await shown(args, { env, ...(signal && { signal }) }));
    },
  );

  test('every command', () => {
    const named = new Set(lines.map(([name]) => name));
    expect(commands.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('an error message escapes control characters in', () => {
  test('keys and values of the configuration', async () => {
    const cwd = await emptyFolder();
    const file = join(cwd, 'explorer-etl.yaml');
    for (const config of [
      { [hostile]: 1 },
      { chains: [{ id: 10, name: hostile }] },
      { chains: [{ id: 10, key: hostile }] },
      { http: { listen: hostile } },
      { explorer: { keys: { [hostile]: { env: hostile } } } },
    ]) {
      await writeFile(file, JSON.stringify(config));
      const output = await shown(['check', '--chain', '11'], { cwd });
      expect(output).toContain(String.raw`\u001b[31mx`);
      expectHarmless(output);
      expect(output).not.toMatch(/^2026/mu);
    }
  });

  test('names of folders and files', async () => {
    const cwd = join(await emptyFolder(), hostile.replaceAll('/', ''));
    await mkdir(cwd);
    for (const args of [['check', '--config', `${hostile}.yaml`], ['db', 'status'], ['init']]) {
      expectHarmless(
        await shown(args, { cwd, env: { DATABASE_URL: '', EXPLORER_BASE_URL: refused } }),
      );
    }
  });

  test('flags and arguments', async () => {
    const flags = [[hostile], [`--${hostile}`], ['sync', '--chain', hostile]];
    for (const args of flags) {
      const output = await shown(args);
      expect(output).toContain(String.raw`\u001b[31mx`);
      expectHarmless(output);
    }
  });

  test.each([401, 500, 200])('a response with HTTP %s', async (status) => {
    const url = await answered(() => ({
      status,
      headers: { server: 'x\u009b2J' },
      body: { message: hostile, items: [{ hash: hostile }], next_page_params: null },
    }));
    const env = { EXPLORER_BASE_URL: url };
    const { stdout, stderr } = await run(['check', '--chain', '10'], {
      env: { DATABASE_URL: database.url, EXPLORER_API_KEY: 'a-key', ...env },
      cwd: '/',
    });
    expectHarmless(stdout + stderr);
    expect(stdout.includes(String.raw`\u001b[31mx\u001b[2J`)).toBe(status !== 200);
  });

  test('a message of Postgres', async () => {
    await database.pool.query(
      `create function pg_temp_raise() returns int language plpgsql as
       $$ begin raise exception e'\\x1b[31mx\\x1b[2J' using hint = e'\\x1b[31mx\\n2026', detail = e'\\x1b[2J'; end $$`,
    );
    const gone = new URL(database.url);
    gone.pathname = `/${encodeURIComponent('\u001b[31mx\u009b2J\n2026')}`;
    const outputs = [
      await call('query', 'select pg_temp_raise()'),
      await call('query', 'select 1 from "\u001b[31mx"'),
      (await run(['status', '--database-url', gone.href])).stderr,
    ];
    for (const output of outputs) {
      expect(output).toContain(String.raw`\u001b[31mx`);
      expectHarmless(output);
      expect(output).not.toMatch(/^2026/mu);
    }
  });
});

test('only main.ts, the screen and dialogues write to the terminal without escaping', async () => {
  const root = join(import.meta.dirname, '../..');
  const holders = [];
  for (const file of globSync('src/**/*.ts', { cwd: root })) {
    const text = await readFile(join(root, file), 'utf8');
    if (/process\.std(?:out|err)|\? process : null/u.test(text)) holders.push(file);
  }
  expect(holders.toSorted()).toEqual(['src/cli/dialogue.ts', 'src/cli/screen.ts', 'src/main.ts']);
});

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}
