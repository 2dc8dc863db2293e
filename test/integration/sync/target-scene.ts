import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { expect } from 'vitest';
import { openProgram } from './program.ts';

/** Requests that an end at `since` costs: two pages that are older, the second one twice. */
export const beyondSince = 3;

export const flags = (...lists: readonly string[]) => [
  '--chain',
  '10',
  ...lists.flatMap((list) => ['--operation', list]),
];

type Beside = Pick<Awaited<ReturnType<typeof openProgram>>, 'database' | 'env'>;

/** The program on some lists, by a file if they are given, and beside another one on its database; and what its commands report of them. */
export async function world(operations?: object, beside?: Beside) {
  const program = await openProgram({
    ...(operations !== undefined && { operations }),
    ...(beside !== undefined && { database: beside.database, url: beside.env.EXPLORER_BASE_URL }),
  });
  const { run, documentOf } = program;
  /** What `verify` finds open. */
  const open = async () =>
    (await documentOf<VerifyDocument>('verify')).feeds.flatMap((feed) => feed.open);
  /** What the commands that only look say of it; without a file `plan` takes its lists as flags. */
  const look = async (...lists: readonly string[]) => {
    const plan = await documentOf<PlanDocument>('plan', ...lists);
    const status = await documentOf<StatusDocument>('status');
    return {
      left: plan.feeds.map(({ history }) => history.requests.most),
      state: status.overall.state,
      open: await open(),
    };
  };
  /** All commands agree that nothing is left to do. */
  const expectDone = async (feeds: number, ...lists: readonly string[]) => {
    expect(await look(...lists)).toEqual({
      left: Array(feeds).fill(0),
      state: 'healthy',
      open: [],
    });
    expect(await run('repair', ...lists)).toMatchObject({ code: 0, requests: 0 });
  };
  return { ...program, look, open, expectDone };
}
