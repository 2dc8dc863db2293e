import { beforeAll, expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { call as run } from '../harness/process.ts';
import { sharedCopy, plainChain } from '../harness/sync.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 60,
  factories: 20,
  oddities: ['missing-hash'],
};

/** Clears a screen in 7 and 8 bits, turns text around, ends lines, and hides in plain sight. */
const hostile = 'x\u001b[2J\u009b2J\u202e\u2028\u007f\u{e0041}\r\n2026 INFO: all is well';
/** All that a command may write but line ends. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const escaped = String.raw`x\u001b[2J\u009b2J\u202e\u2028\u007f\udb40\udc41\u000d`;

const database = sharedCopy(5, [chain], { archive: 'all' });
beforeAll(async () => {
  const say = (statement: string) => database.pool.query(statement, [hostile]);
  await say('update etl.quarantine set reason = $1, raw = jsonb_build_object($1::text, $1::text)');
  await say(`update etl.feeds set state = 'failed', reason = $1`);
  await say('update explorer.addresses set name = $1');
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

test.each([['status'], ['verify'], ['quarantine', 'list']])(
  '%s %s escapes control characters from the explorer',
  async (...args) => {
    const output = await call(...args);
    expect(output).toContain(escaped);
    expect(output.split('\n').filter((line) => harmful.test(line))).toEqual([]);
    expect(output.split('\n').filter((line) => line.startsWith('2026'))).toEqual([]);
  },
);

test.each([
  ['status', '--json'],
  ['verify', '--json'],
  ['quarantine', 'list', '--json'],
])(
  '%s %s %s escapes control characters from the explorer, and keeps their meaning',
  async (...args) => {
    const output = await call(...args);
    expect(output.split('\n').filter((line) => harmful.test(line))).toEqual([]);
    expect(stringsOf(JSON.parse(output)).some((text) => text.includes(hostile))).toBe(true);
  },
);

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}
