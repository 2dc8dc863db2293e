import { describe, expect, test } from 'vitest';
import type { FeedState } from '../../../src/lists/feed.ts';
import { activityOf, laneState } from '../../../src/status/lanes.ts';
import type { LaneStatus } from '../../../src/status/schema.ts';

type LaneState = LaneStatus['state'];

const open = (last_page_age_s: number | null, stopped_at: string | null = null) =>
  ({ run_state: 'open', last_page_age_s, stopped_at }) as const;
/** A run that a process let go of when it was told to stop. */
const stopped = open(900, '2026-11-22T18:00:00+00:00');

type Seen = Parameters<typeof laneState>;
const onPrimary = (record: Seen[0], job: Seen[1]) => laneState(record, job, 'attended');
const deserted = (record: Seen[0], job: Seen[1]) => laneState(record, job, 'deserted');
const onStandby = (record: Seen[0], job: Seen[1]) => laneState(record, job, 'standby');

describe('a lane is', () => {
  test.each<[state: LaneState, why: string, found: LaneState]>([
    [
      'idle',
      'without an open run',
      onPrimary({ run_state: 'finished', last_page_age_s: 3, stopped_at: null }, null),
    ],
    ['running', 'while a living worker has it', onPrimary(open(2), { is: 'held', age_s: 5 })],
    ['running', 'before its first page', onPrimary(open(null), { is: 'held', age_s: 10 })],
    [
      'quiet',
      'once a worker brings no page for some seconds',
      onPrimary(open(20), { is: 'held', age_s: 100 }),
    ],
    ['quiet', 'of its first page too', onPrimary(open(null), { is: 'held', age_s: 20 })],
    ['running', 'when it was just taken up', onPrimary(open(900), { is: 'held', age_s: 2 })],
    ['running', 'between two slices', onPrimary(open(2), { is: 'queued', age_s: 0.2 })],
    ['queued', 'while it waits for a worker', onPrimary(open(60), { is: 'queued', age_s: 20 })],
    [
      'no-worker',
      'once no worker came for long',
      onPrimary(open(900), { is: 'queued', age_s: 400 }),
    ],
    [
      'no-worker',
      'when the worker that had it is gone',
      onPrimary(open(2), { is: 'lost', age_s: 2 }),
    ],
    ['no-worker', 'when there is no job for it', onPrimary(open(2), null)],
    [
      'unknown',
      'on a standby, which does not see whose job it is',
      onStandby(open(2), { is: 'lost', age_s: 2 }),
    ],
    ['unknown', 'on a standby when there is no job', onStandby(open(2), null)],
    [
      'unknown',
      'on a standby once no worker came for long',
      onStandby(open(900), { is: 'queued', age_s: 400 }),
    ],
    ['paused', 'when whoever had it was told to stop', deserted(stopped, null)],
    [
      'paused',
      'when it waited for its turn as they stopped',
      deserted(stopped, { is: 'queued', age_s: 1 }),
    ],
    [
      'paused',
      'when it rested after a failure as they stopped',
      deserted(stopped, { is: 'resting', age_s: 1 }),
    ],
    ['queued', 'again once somebody is there', onPrimary(stopped, { is: 'queued', age_s: 20 })],
    [
      'no-worker',
      'when whoever took it up after that is gone',
      deserted(stopped, { is: 'lost', age_s: 1 }),
    ],
    [
      'no-worker',
      'when it rests after a failure and everybody is gone without a word',
      deserted(open(2), { is: 'resting', age_s: 1 }),
    ],
    [
      'no-worker',
      'when it is queued and everybody is gone for some seconds',
      deserted(open(20), { is: 'queued', age_s: 20 }),
    ],
    ['backing-off', 'after a failure', onPrimary(open(2), { is: 'resting', age_s: 2 })],
  ])('%s %s', (state, _why, found) => {
    expect(found).toBe(state);
  });
});

describe('a feed', () => {
  const lane = (state: LaneState, quiet_s: number | null = null) => ({ state, quiet_s });
  test.each<[what: string, stored: FeedState, lanes: ReturnType<typeof lane>[], shown: string]>([
    ['whose worker was killed is not running', 'running', [lane('no-worker')], 'no-worker'],
    ['of whose worker nothing is known says so', 'running', [lane('unknown')], 'unknown'],
    ['that was left running without a run is idle', 'running', [lane('idle')], 'idle'],
    ['runs while one of its lanes does', 'running', [lane('running'), lane('queued')], 'running'],
    ['that failed before and begins again is queued', 'failed', [lane('queued')], 'queued'],
    ['that failed stays so at rest', 'failed', [lane('idle')], 'failed'],
    ['that backs off says why', 'degraded', [lane('backing-off'), lane('idle')], 'degraded'],
    ['that waits for credits says so while read', 'waiting', [lane('running')], 'waiting'],
    ['whose worker was stopped is paused', 'idle', [lane('paused'), lane('idle')], 'paused'],
    ['that failed says so though it is paused', 'degraded', [lane('paused')], 'degraded'],
    ['with one lane lost has no worker', 'idle', [lane('paused'), lane('no-worker')], 'no-worker'],
    ['that waits for an answer is running', 'running', [lane('quiet', 20)], 'running'],
    ['that is retried keeps its failure meanwhile', 'degraded', [lane('quiet', 20)], 'degraded'],
    ['without a page for minutes is stalled', 'running', [lane('quiet', 300)], 'stalled'],
  ])('%s', (_what, stored, lanes, shown) => {
    expect(activityOf(stored, lanes)).toBe(shown);
  });
});
