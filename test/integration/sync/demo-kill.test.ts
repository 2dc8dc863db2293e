import { expect, test } from 'vitest';
import { documents } from '../../../src/cli/documents.ts';
import { call, command, eventually, findWorker } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';

const document = documents.demo;

test('a demo that a signal stops prints a document with --json', async () => {
  const { url, pool } = await freshDatabase();
  const stop = new AbortController();
  const ended = call(['demo', '--json'], { env: { DATABASE_URL: url }, signal: stop.signal });
  await eventually('a worker', () => findWorker(pool));

  stop.abort(new Error('SIGTERM'));
  const { code, stdout } = await ended;

  expect(code).toBe(130);
  expect(document.parse(JSON.parse(stdout))).toMatchObject({
    exit: { code: 130, reason: 'interrupted' },
    kill: null,
  });
});

test('only a demo may start a worker of the demo', async () => {
  const { code, stderr } = await command(['demo', '--as-worker']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/--as-worker is for the demo itself/u);
});
