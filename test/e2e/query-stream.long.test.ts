import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase, type TestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/process.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const rows = 200_000;
/** Some 200 MB as JSON, twice what the process may have. */
const statement = `select n, repeat(md5(n::text), 32) as filler from generate_series(1, ${rows}) as n`;
const heapMb = 96;

const fillerOf = (n: number): string => createHash('md5').update(String(n)).digest('hex');

/** A query in a process of little memory with an unread stdout; `ended`: its exit and its stderr. */
function largeQuery(database: TestDatabase) {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMb}`, main, 'query', statement, '--json', '--timeout', '0'],
    {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], DATABASE_URL: database.url },
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  return { child, ended };
}

test('a result larger than memory reaches a slow reader whole', async () => {
  const database = await freshDatabase();
  const { child, ended } = largeQuery(database);
  await eventually('Postgres to wait for the reader', async () => {
    const waiting = await database.query(
      `select from pg_stat_activity where wait_event = 'ClientWrite' and datname = current_database()`,
    );
    return waiting.length > 0;
  });
  let last = '';
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(fillerOf(lines + 1))) continue;
    last = line;
    lines += 1;
  }
  expect(lines).toBe(rows);
  expect(last).toContain(`"n":${rows},`);
  expect(await ended).toEqual([[0, null], '']);
});

test('query ends without an error if its reader stops, as head does', async () => {
  const database = await freshDatabase();
  const { child, ended } = largeQuery(database);
  await once(child.stdout, 'readable');
  child.stdout.destroy();
  expect(await ended).toEqual([[0, null], '']);
  await eventually('Postgres to be done with it', async () => {
    const others = await database.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and application_name not in ('', 'explorer-etl test')`,
    );
    return others.length === 0;
  });
});
