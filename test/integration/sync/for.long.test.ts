import { expect, test } from 'vitest';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import { call } from '../../harness/process.ts';
import { openProgram } from './program.ts';

/** The program on one list, whose explorer holds its answers back from the request of a number on. */
async function heldFrom(first: number, list: object) {
  const held = { from: first };
  let seen = 0;
  const program = await openProgram({
    operations: { 'user-operations': list },
    explorer: { page_size: 10 },
    hold: () => ((seen += 1) >= held.from ? new Promise(() => undefined) : null),
  });
  return { ...program, holdFrom: (request: number) => void (held.from = request) };
}

test('sync --for ends with 0 in the middle of a history, and the next one completes it', async () => {
  const { run, documentOf, holdFrom } = await heldFrom(6, {});

  const first = await documentOf<SyncDocument>('sync', '--for', '3s');
  expect(first).toMatchObject({ exit: { code: 0, reason: 'done' } });
  expect(first.lanes.map(({ state }) => state)).toContain('paused');

  holdFrom(Infinity);
  const last = await documentOf<SyncDocument>('sync', '--for', '1h');
  expect(last).toMatchObject({ exit: { code: 0 }, history: [] });
  expect(last.lanes.map(({ state }) => state)).not.toContain('paused');
  expect(await run('verify')).toMatchObject({ code: 0 });
});

test('sync --for ends with 1 if a feed is not polled on schedule', async () => {
  const { run, holdFrom } = await heldFrom(Infinity, { freshness: '1s' });
  await run('sync');
  holdFrom(0);

  const late = await run('sync', '--for', '3s');

  expect(late).toMatchObject({ code: 1 });
  expect(late.stdout).toContain(
    'The time of --for is over before every feed was polled on schedule. Progress is saved: the same command resumes.',
  );
});

test.each(['10', '500ms', '25d', 'soon'])('sync --for %s is refused', async (text) => {
  const ended = await call(['sync', '--for', text], { env: {} });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toContain('It is a duration from 1s to 24d, such as 10m.');
});
