import { describe, expect, test } from 'vitest';
import { feedState, laneState, type LaneState } from '../../src/report/lane-state.ts';

const open = (last_page_age_s: number | null) => ({ run_state: 'open', last_page_age_s }) as const;

type Seen = Parameters<typeof laneState>;
const onPrimary = (record: Seen[0], job: Seen[1]) => laneState(record, job, 'primary');
const onStandby = (record: Seen[0], job: Seen[1]) => laneState(record, job, 'standby');

describe('a lane is', () => {
  test.each<[state: LaneState, why: string, found: LaneState]>([
    [
      'idle',
      'without an open run',
      onPrimary({ run_state: 'finished', last_page_age_s: 3 }, undefined),
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
    ['resting', 'after a failure', onPrimary(open(2), { is: 'resting', age_s: 2 })],
  ])('%s %s', (state, _why, found) => {
    expect(found).toBe(state);
  });
});

describe('a feed', () => {
  test.each<[what: string, stored: string, lanes: LaneState[], shown: string]>([
    ['whose worker was killed is not running', 'running', ['unattended'], 'unattended'],
    ['of whose worker nothing is known says so', 'running', ['unknown', 'idle'], 'unknown'],
    ['that was left running without a run is idle', 'running', ['idle', 'idle'], 'idle'],
    ['runs while one of its lanes does', 'running', ['running', 'queued'], 'running'],
    ['that failed before and begins again is queued', 'failed', ['queued'], 'queued'],
    ['that failed stays so at rest', 'failed', ['idle'], 'failed'],
    ['that rests says why', 'degraded', ['resting', 'idle'], 'degraded'],
    ['that waits for credits says so while a worker has it', 'waiting', ['running'], 'waiting'],
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
