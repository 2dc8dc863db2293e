import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { expect } from 'vitest';
import { openProgram } from './program.ts';

/** The program on some lists, and what its commands report of them. */
export async function world(operations: object) {
  const program = await openProgram({ operations });
  const { run, documentOf } = program;
  /** What `verify` finds open. */
  const open = async () =>
    (await documentOf<VerifyDocument>('verify')).feeds.flatMap((feed) => feed.open);
  /** What the commands that only look say of it. */
  const look = async () => {
    const plan = await documentOf<PlanDocument>('plan');
    const status = await documentOf<StatusDocument>('status');
    return {
      left: plan.feeds.map(({ history }) => history.requests.most),
      state: status.overall.state,
      open: await open(),
    };
  };
  /** All commands agree that nothing is left to do. */
  const expectDone = async (feeds = 1) => {
    expect(await look()).toEqual({ left: Array(feeds).fill(0), state: 'healthy', open: [] });
    expect(await run('repair')).toMatchObject({ code: 0, requests: 0 });
  };
  return { ...program, look, open, expectDone };
}
