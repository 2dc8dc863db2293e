import { describe, expect, test } from 'vitest';
import type { FeedState } from '../../src/lists/feed.ts';
import { feedState, laneState, type LaneState } from '../../src/report/lane-state.ts';

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
      onPrimary({ run_state: 'finished', last_page_age_s: 3, stopped_at: null }, undefined),
    ],
    ['running', 'while a living worker has it', onPrimary(open(2), { is: 'held', age_s: 5 })],
    ['running', 'before its first page', onPrimary(open(null), { is: 'held', age_s: 10 })],
    [
      'awaiting',
      'once a worker brings no page for some seconds',
      onPrimary(open(20), { is: 'held', age_s: 100 }),
    ],
    ['awaiting', 'of its first page too', onPrimary(open(null), { is: 'held', age_s: 20 })],
    ['running', 'when it was just taken up', onPrimary(open(900), { is: 'held', age_s: 2 })],
    [
      'stalled',
      'once a worker brings no page for long',
      onPrimary(open(900), { is: 'held', age_s: 400 }),
    ],
    ['running', 'between two slices', onPrimary(open(2), { is: 'queued', age_s: 0.2 })],
    ['queued', 'while it waits for a worker', onPrimary(open(60), { is: 'queued', age_s: 20 })],
    [
      'unattended',
      'once no worker came for long',
      onPrimary(open(900), { is: 'queued', age_s: 400 }),
    ],
    [
      'unattended',
      'when the worker that had it is gone',
      onPrimary(open(2), { is: 'lost', age_s: 2 }),
    ],
    ['unattended', 'when there is no job for it', onPrimary(open(2), undefined)],
    [
      'unknown',
      'on a standby, which does not see whose job it is',
      onStandby(open(2), { is: 'lost', age_s: 2 }),
    ],
    ['unknown', 'on a standby when there is no job', onStandby(open(2), undefined)],
    [
      'unknown',
      'on a standby once no worker came for long',
      onStandby(open(900), { is: 'queued', age_s: 400 }),
    ],
    ['paused', 'when whoever had it was told to stop', deserted(stopped, undefined)],
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
      'unattended',
      'when whoever took it up after that is gone',
      deserted(stopped, { is: 'lost', age_s: 1 }),
    ],
    [
      'unattended',
      'when it rests after a failure and everybody is gone without a word',
      deserted(open(2), { is: 'resting', age_s: 1 }),
    ],
    [
      'unattended',
      'when it is queued and everybody is gone for some seconds',
      deserted(open(20), { is: 'queued', age_s: 20 }),
    ],
    ['resting', 'after a failure', onPrimary(open(2), { is: 'resting', age_s: 2 })],
  ])('%s %s', (state, _why, found) => {
    expect(found).toBe(state);
  });
});

describe('a feed', () => {
  test.each<[what: string, stored: FeedState, lanes: LaneState[], shown: string]>([
    ['whose worker was killed is not running', 'running', ['unattended'], 'unattended'],
    ['of whose worker nothing is known says so', 'running', ['unknown', 'idle'], 'unknown'],
    ['that was left running without a run is idle', 'running', ['idle', 'idle'], 'idle'],
    ['runs while one of its lanes does', 'running', ['running', 'queued'], 'running'],
    ['that failed before and begins again is queued', 'failed', ['queued'], 'queued'],
    ['that failed stays so at rest', 'failed', ['idle'], 'failed'],
    ['that rests says why', 'degraded', ['resting', 'idle'], 'degraded'],
    ['that waits for credits says so while a worker has it', 'waiting', ['running'], 'waiting'],
    ['whose worker was told to stop is paused', 'idle', ['paused', 'idle'], 'paused'],
    ['that failed says so though its worker was told to stop', 'degraded', ['paused'], 'degraded'],
    ['of which one lane was left without a word', 'idle', ['paused', 'unattended'], 'unattended'],
    ['of which a lane awaits an answer says so', 'running', ['awaiting', 'idle'], 'awaiting'],
    ['that is tried again keeps its failure meanwhile', 'degraded', ['awaiting'], 'degraded'],
    ['of which a lane gets nowhere is stalled', 'running', ['stalled', 'idle'], 'stalled'],
  ])('%s', (_what, stored, lanes, shown) => {
    expect(
      feedState(
        stored,
        lanes.map((state) => ({ state })),
      ),
    ).toBe(shown);
  });
});
