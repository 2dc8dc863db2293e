import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { raw } from 'jq-wasm';
import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { simulated, testKey } from '../harness/explorer.ts';
import { call, configFolder } from '../harness/process.ts';
import { freshDatabase } from '../harness/database.ts';
import { plainChain } from '../harness/sync.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/json.md'), 'utf8');

/** A line of docs/json.md: a command, and what jq makes of its document. */
interface OneLiner {
  readonly args: readonly string[];
  readonly flags: readonly string[];
  readonly filter: string;
}

const oneLiners = [...page.matchAll(/^```sh\n(.*)\n```$/gmu)].map(([, line = '']): OneLiner => {
  const parts = /^explorer-etl (.*) \| jq (?:(-\w+) )?'(.*)'$/u.exec(line);
  if (parts === null) throw new Error(`what is to be run here? ${line}`);
  const [, args = '', flag, filter = ''] = parts;
  return { args: args.split(' '), flags: flag === undefined ? [] : [flag], filter };
});

/** The line that has this text in it. */
function lineOf(text: string): OneLiner {
  const [found, ...more] = oneLiners.filter(({ filter }) => filter.includes(text));
  if (found === undefined || more.length > 0) throw new Error(`${text}: not in one line`);
  return found;
}

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 300,
  factories: 10,
  // Its newest items are of the last hours, as those of a live chain are.
  startsAtMs: Date.now() - 2 * 3_600_000,
};

/** A database of its own, two feeds, and lines of the page that are run there. */
async function scene() {
  const simulator = await simulated({ seed: 5, chains: [chain] });
  const { query, url } = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: 10, operations: { 'user-operations': {}, factories: {} } }],
  });
  const env = { DATABASE_URL: url, EXPLORER_BASE_URL: simulator.url, EXPLORER_API_KEY: testKey };
  const run = (args: readonly string[], own: NodeJS.ProcessEnv = {}) =>
    call(args, { env: { ...env, ...own }, cwd });
  return {
    run,
    ask: async ({ args, flags, filter }: OneLiner) => {
      const { stdout } = await run(args);
      const { stdout: answered, exitCode, stderr } = await raw(stdout, filter, [...flags]);
      expect(stderr).toBe('');
      return { answered: answered.trimEnd(), exitCode };
    },
    number: async (statement: string): Promise<number> => (await query(statement))[0]?.n ?? 0,
  };
}

test('docs/json.md has a jq line for each of five tasks', () => {
  expect(oneLiners).toHaveLength(5);
});

test('jq reads whether all feeds are current, the credits of today, and the rows that the last sync added', async () => {
  const { run, ask, number } = await scene();
  await run(['migrate']);
  expect(await ask(lineOf('.overall.state'))).toEqual({ answered: 'false', exitCode: 1 });
  expect((await ask(lineOf('.rows_added'))).answered).toBe('310');
  expect((await ask(lineOf('.rows_added'))).answered).toBe('0');
  expect(await ask(lineOf('.overall.state'))).toEqual({ answered: 'true', exitCode: 0 });
  const spent = await number('select sum(credits)::int as n from etl.pages');
  expect(spent).toBeGreaterThan(0);
  expect(await ask(lineOf('.credits'))).toEqual({ answered: String(spent), exitCode: 0 });
});

test('jq reads failing feeds with their class, and what is open as commands', async () => {
  const { run, ask } = await scene();
  await run(['sync'], { EXPLORER_API_KEY: 'wrong' });
  const { answered: failing } = await ask(lineOf('.failure'));
  expect(failing.split('\n').toSorted()).toEqual([
    '10/factories unauthorized',
    '10/user-operations unauthorized',
  ]);
  await run(['sync', '--max-pages', '2']);
  expect((await ask(lineOf('.failure'))).answered).toBe('');

  const { answered } = await ask(lineOf('.open'));
  expect(answered).toBe('explorer-etl repair --chain 10 --operation user-operations');
  const [, ...repair] = answered.split(' ');
  // Two pages show too little of how long the list is.
  expect((await run([...repair, '--yes'])).code).toBe(0);
  expect((await ask(lineOf('.open'))).answered).toBe('');
});
