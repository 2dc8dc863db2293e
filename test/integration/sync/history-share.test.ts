import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { hangMs, startProgram } from '../../harness/process.ts';
import { chain, openProgram, withinADay } from './program.ts';

const dailyCredits = 100_000;

/** A first sync is cut after a page, and the day has credits left that at any hour are new data's. */
async function openScene() {
  const program = await openProgram({
    chains: [chain],
    operations: { 'user-operations': { schedule: '*/10 * * * *' } },
    explorer: { daily_credits: dailyCredits },
  });
  await program.run('sync', '--max-pages', '2');
  await program.query(
    `update etl.budget set credits_day = now() at time zone 'utc', credits_spent = ${dailyCredits - 800}`,
  );
  return program;
}

const stored = `select failure from etl.feeds`;
const rows = 'select count(*)::int as rows from explorer.user_operations';

test('a sync whose history has used its share of the credits reads what is new, and says what is left', () =>
  withinADay(async () => {
    const { run, query } = await openScene();
    const [before] = await query(rows);
    const { code, stdout } = await run('sync');
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/gu, ' ')).toContain('history has used its share of the credits');
    expect(await query(stored)).toEqual([{ failure: null }]);
    expect(await query(rows)).toEqual([before]);
    expect(
      await query(`select lane, state, failure from etl.runs order by id desc limit 1`),
    ).toEqual([{ lane: 'backfill', state: 'interrupted', failure: 'history-share' }]);
  }));

test('while history waits for its share of the credits, start is ready and says until when', () =>
  withinADay(async () => {
    const { documentOf, env, cwd = '' } = await openScene();
    const child = startProgram(['start', '--log-format', 'json'], {
      databaseUrl: env.DATABASE_URL,
      explorerUrl: env.EXPLORER_BASE_URL,
      cwd,
    });
    const isWaiting = () => child.output.includes('"event":"key.waiting"');
    await expect.poll(isWaiting, { timeout: hangMs }).toBe(true);
    const reasonsNow = async () => (await documentOf<StatusDocument>('status')).reasons;
    await expect.poll(reasonsNow, { timeout: hangMs }).toEqual([
      expect.objectContaining({
        code: 'reading',
        severity: 'info',
        blocks_readiness: false,
        sentence: expect.stringMatching(
          /^History has used its share of the credits of a day \(daily_credits in .*\) so far; the rest is for new data; no request before \d{4}-\d\d-\d\d \d\d:00:00 UTC\.$/u,
        ),
      }),
    ]);
    expect(child.output).not.toContain('"event":"key.accepted"');
  }));
