import { expect, test } from 'vitest';
import { failures, type FailureClass } from '../../../src/failure.ts';
import { feedOf, statusOf } from '../../harness/status.ts';
import { expectToFit, usual } from './looks.ts';
import { type Exit, exits } from '../../../src/cli/context.ts';
import { syncText, type SyncDocument } from '../../../src/cli/sync.ts';
import type { FeedStatus } from '../../../src/status/schema.ts';
import { type Look, plainLook } from '../../../src/terminal/layout.ts';

type Lane = SyncDocument['lanes'][number];

const sums = {
  rows_added: 12_000,
  rows_changed: 34,
  pages: 240,
  requests: 241,
  credits: 4_820,
  quarantined: 0,
  drift: 0,
};
const read: Lane = {
  feed: '10/user-operations',
  chain_id: 10,
  operation: 'user-operations',
  lane: 'backfill',
  state: 'finished',
  failure: null,
  reason: null,
  ...sums,
};
const factories: Lane = { ...read, feed: '10/factories', operation: 'factories', rows_changed: 0 };

const done: SyncDocument = {
  schema: 'explorer-etl/sync/1',
  command: 'sync',
  lanes: [read],
  totals: { ...sums, seconds: 5.1 },
  history: [],
  paused: [],
  still_open: [],
};

/** What a feed and its run store of a failure. */
const reasonOf = (failure: FailureClass) =>
  `${failure}: HTTP 500, what the explorer said. ${failures[failure].advice}`;

const failed = (lane: Lane, failure: FailureClass): Lane => ({
  ...lane,
  state: 'failed',
  failure,
  reason: reasonOf(failure),
});

const operationsFeed = feedOf();
const factoriesFeed = feedOf({ operation: 'factories', label: 'factories', rows: 300 });
const stopped = (feed: FeedStatus, state: FeedStatus['state'], failure: FailureClass) => ({
  ...feed,
  state,
  failure,
  sentence: reasonOf(failure),
});
const openFeed: FeedStatus = {
  ...operationsFeed,
  verified: { ...operationsFeed.verified, gaps: 1, missing: 1_234 },
};
const open = [{ feed: '10/user-operations', requests: 121_000 }];

/** How a command ended: its document, the feeds as status shows them then, and its exit. */
interface Scene {
  readonly document: SyncDocument;
  readonly feeds: readonly FeedStatus[];
  readonly exit: Exit;
}

const drawnOn = (look: Look, { document, feeds, exit }: Scene) =>
  syncText(look, document, statusOf([...feeds]), exit, (command) => command).join('\n');

const scenes: Readonly<Record<string, Scene>> = {
  done: { document: done, feeds: [operationsFeed, factoriesFeed], exit: exits.done },
  'nothing-to-do': {
    document: { ...done, lanes: [], totals: { ...done.totals, rows_added: 0 } },
    feeds: [operationsFeed, factoriesFeed],
    exit: exits.done,
  },
  'still-open': { document: { ...done, history: open }, feeds: [openFeed], exit: exits.done },
  interrupted: {
    document: {
      ...done,
      lanes: [
        { ...read, state: 'paused' },
        { ...failed(factories, 'unsupported'), state: 'unsupported', rows_added: 0 },
      ],
      history: open,
    },
    feeds: [openFeed, stopped(factoriesFeed, 'unsupported', 'unsupported')],
    exit: exits.interrupted,
  },
  'quarantine-and-drift': {
    document: {
      ...done,
      lanes: [{ ...read, quarantined: 3, drift: 3 }, factories],
      totals: { ...done.totals, quarantined: 3, drift: 3 },
    },
    feeds: [{ ...operationsFeed, quarantined: 3, schema_drift: 3 }, factoriesFeed],
    exit: exits.done,
  },
  superseded: {
    document: { ...done, lanes: [{ ...read, state: 'superseded' }] },
    feeds: [operationsFeed],
    exit: exits.failed,
  },
  // A list that is not served fails nothing; one lane that failed makes its feed fail.
  mixed: {
    document: {
      ...done,
      lanes: [
        read,
        failed({ ...read, lane: 'live', rows_added: 50 }, 'unreachable'),
        { ...failed(factories, 'unsupported'), state: 'unsupported', rows_added: 0 },
      ],
    },
    feeds: [
      stopped(operationsFeed, 'failing', 'unreachable'),
      stopped(factoriesFeed, 'unsupported', 'unsupported'),
    ],
    exit: exits.failed,
  },
  // A key that is refused is refused for each of its feeds.
  'key-refused': {
    document: {
      ...done,
      lanes: [failed(read, 'unauthorized'), failed(factories, 'unauthorized')],
    },
    feeds: [
      stopped(operationsFeed, 'blocked', 'unauthorized'),
      stopped(factoriesFeed, 'blocked', 'unauthorized'),
    ],
    exit: exits.failed,
  },
};

/** How status shows a feed that a failure stopped; the other class stops none. */
const statesOfStopped: Readonly<Record<Exclude<FailureClass, 'unordered'>, FeedStatus['state']>> = {
  unreachable: 'failing',
  throttled: 'blocked',
  'out-of-credits': 'blocked',
  'daily-limit': 'blocked',
  'history-share': 'behind',
  unauthorized: 'blocked',
  'key-missing': 'blocked',
  forbidden: 'failing',
  intercepted: 'failing',
  unsupported: 'unsupported',
  'unknown-chain': 'unsupported',
  'not-found': 'unsupported',
  rejected: 'blocked',
  'cursor-refused': 'failing',
  'envelope-invalid': 'failing',
  'cursor-loop': 'failing',
  truncated: 'failing',
  'not-stored': 'failing',
  'internal-error': 'failing',
  'database-unreachable': 'failing',
  'database-connections': 'failing',
  'database-login': 'failing',
  'database-read-only': 'failing',
  'database-full': 'failing',
  'database-permission': 'failing',
  'database-object': 'failing',
};
const states = Object.entries(statesOfStopped) as [FailureClass, FeedStatus['state']][];
const failureScenes = states.map(([failure, state]): [FailureClass, Scene] => [
  failure,
  {
    document: { ...done, lanes: [failed(read, failure)] },
    feeds: [stopped(operationsFeed, state, failure)],
    exit: exits.failed,
  },
]);

test('the results of sync match their snapshot', async () => {
  const drawn = Object.entries(scenes).map(
    ([name, scene]) => `# ${name}\n${drawnOn(usual, scene)}\n`,
  );
  await expect(drawn.join('\n')).toMatchFileSnapshot('snapshots/sync-result.txt');
});

test('sync names each class of failure with what to do', async () => {
  const drawn = failureScenes.map(([name, scene]) => {
    // Below the table and the totals.
    const said = drawnOn(usual, scene).split('\n').slice(4);
    return `# ${name}\n${said.join('\n')}\n`;
  });
  await expect(drawn.join('\n')).toMatchFileSnapshot('snapshots/sync-failures.txt');
});

test('every result of sync fits the width of the terminal', () => {
  const all = [...Object.values(scenes), ...failureScenes.map(([, scene]) => scene)];
  expectToFit((look) => all.map((scene) => drawnOn(look, scene)).join('\n'));
});

test('a file has each failure in one line, so that a search finds it whole', () => {
  const scene = new Map(failureScenes).get('rejected');
  const lines = scene === undefined ? [] : drawnOn(plainLook, scene).split('\n');
  expect(lines).toContain('  10/user-operations: rejected: HTTP 500, what the explorer said.');
});
