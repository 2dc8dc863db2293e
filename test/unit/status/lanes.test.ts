import { expect, test } from 'vitest';
import { type FailureClass, failures } from '../../../src/failure.ts';
import { laneState, stateOfWork } from '../../../src/status/lanes.ts';
import type { FeedStatus, LaneStatus } from '../../../src/status/schema.ts';
import { laneOf } from '../../harness/status.ts';

type State = LaneStatus['state'];
type Job = [is: 'held' | 'queued' | 'resting' | 'lost', age_s: number] | null;
const stopped = { last_page_age_s: 900, stopped_at: '2026-11-22T18:00:00+00:00' };

test.each<
  [state: State, why: string, run: number | null | typeof stopped, job: Job, view?: 'deserted']
>([
  ['running', 'while a live worker has it', 2, ['held', 5]],
  ['running', 'before its first page', null, ['held', 10]],
  ['quiet', 'once a worker brings no page for some seconds', 20, ['held', 100]],
  ['quiet', 'of its first page too', null, ['held', 20]],
  ['running', 'when it was just started', 900, ['held', 2]],
  ['running', 'between two slices', 2, ['queued', 0.2]],
  ['queued', 'while it waits for a worker', 60, ['queued', 20]],
  ['no-worker', 'once no worker came for long', 900, ['queued', 400]],
  ['queued', 'when the worker that had it is gone, and others work', 2, ['lost', 2]],
  ['no-worker', 'when that worker is gone for long', 900, ['lost', 900]],
  ['no-worker', 'when the only worker is gone', 2, ['lost', 2], 'deserted'],
  ['no-worker', 'when there is no job for it', 2, null],
  ['backing-off', 'after a failure', 2, ['resting', 2]],
  ['queued', 'again once a worker is there', stopped, ['queued', 20]],
  ['paused', 'when its worker was stopped', stopped, null, 'deserted'],
  ['paused', 'when it was queued as its worker was stopped', stopped, ['queued', 1], 'deserted'],
  ['paused', 'when it backed off as its worker was stopped', stopped, ['resting', 1], 'deserted'],
  ['no-worker', 'when a later worker is gone', stopped, ['lost', 1], 'deserted'],
  ['no-worker', 'when it backs off and no worker stopped', 2, ['resting', 1], 'deserted'],
  ['no-worker', 'when it is queued without a worker', 20, ['queued', 20], 'deserted'],
])('a lane is %s %s', (state, _why, run, job, view) => {
  const times =
    run !== null && typeof run === 'object' ? run : { last_page_age_s: run, stopped_at: null };
  const workers = { start: view === undefined ? 1 : 0, once: 0 };
  const isHeld = { held: true, lost: false, queued: null, resting: null };
  const until = job?.[0] === 'resting' ? '2026-11-22T19:00:00+00:00' : null;
  const work = job === null ? null : { is_held: isHeld[job[0]], until, age_s: job[1] };
  expect(laneState({ run_state: 'open', ...times }, work, workers)).toBe(state);
  expect(laneState({ run_state: 'finished', ...times }, work, workers)).toBe('idle');
});

test.each<
  [
    what: string,
    stored: FailureClass | null,
    lanes: (State | [State, number])[],
    shown?: FeedStatus['state'],
  ]
>([
  ['whose worker was killed is not running', null, ['no-worker'], 'behind'],
  ['of a list out of order fails', 'unordered', ['idle'], 'failing'],
  ['with a refused parameter is blocked', 'rejected', ['idle'], 'blocked'],
  ['that is not served is unsupported', 'unsupported', ['idle'], 'unsupported'],
  ['without a run is as its data says', null, ['idle']],
  ['runs while one of its lanes does', null, ['running', 'queued'], 'running'],
  ['that failed before and begins again is queued', 'cursor-loop', ['queued'], 'running'],
  ['that failed stays so while idle', 'cursor-loop', ['idle'], 'failing'],
  ['that backs off says why', 'unreachable', ['backing-off', 'idle'], 'failing'],
  ['that waits for credits says so while read', 'out-of-credits', ['running'], 'blocked'],
  ['whose worker was stopped is paused', null, ['paused', 'idle'], 'paused'],
  ['that failed says so though it is paused', 'unreachable', ['paused'], 'failing'],
  ['with one lane lost has no worker', null, ['paused', 'no-worker'], 'behind'],
  ['that waits for an answer is running', null, [['quiet', 20]], 'running'],
  ['that is retried keeps its failure meanwhile', 'unreachable', [['quiet', 20]], 'failing'],
  ['without a page for minutes is stalled', null, [['quiet', 300]], 'failing'],
])('a feed %s', (_what, stored, lanes, shown) => {
  const those = lanes.map((lane) => {
    const [state, quiet_s] = typeof lane === 'string' ? [lane, null] : lane;
    return laneOf({ state, quiet_s });
  });
  const work = { failure: stored, sentence: stored === null ? null : failures[stored].advice };
  expect(stateOfWork(work, those)).toBe(shown ?? null);
});
