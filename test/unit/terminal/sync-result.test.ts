import { expect, test } from 'vitest';
import { failures, type FailureClass } from '../../../src/failure.ts';
import { feedOf, statusOf } from '../../harness/status.ts';
import { expectToFit, usual } from './looks.ts';
import { exits } from '../../../src/cli/context.ts';
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
};

const failed = (...lanes: readonly Lane[]): SyncDocument => ({ ...done, lanes: [...lanes] });

/** As the command ends: a lane says how. */
const exitOf = ({ lanes }: SyncDocument) => {
  const has = (wanted: Lane['state']) => lanes.some(({ state }) => state === wanted);
  return has('paused') ? exits.interrupted : has('failed') ? exits.failed : exits.done;
};

/** The status after the command: what a lane counts is there, and how it ended. */
function statusAfter({ lanes, history }: SyncDocument) {
  const endOf = (operation: string) => {
    const one = lanes.find((lane) => lane.operation === operation && lane.failure !== null);
    const name = one?.failure ?? null;
    return { failure: name, sentence: one?.reason ?? null, state: stateOf(name) };
  };
  return statusOf([
    feedOf({
      ...endOf('user-operations'),
      quarantined: lanes[0]?.quarantined ?? 0,
      schema_drift: lanes[0]?.drift ?? 0,
      verified: { ...feedOf().verified, gaps: history.length, missing: 1_234 * history.length },
    }),
    feedOf({ operation: 'factories', label: 'factories', rows: 300, ...endOf('factories') }),
  ]);
}

function stateOf(name: FailureClass | null): FeedStatus['state'] {
  if (name === null) return 'current';
  if (failures[name].feed === 'unsupported') return 'unsupported';
  return name === 'rejected' || failures[name].stops === 'key' ? 'blocked' : 'failing';
}

const drawnOn = (look: Look, document: SyncDocument) =>
  syncText(look, document, statusAfter(document), exitOf(document), (command) => command);

const open = [{ feed: '10/user-operations', requests: 121_000 }];

const scenes: Readonly<Record<string, SyncDocument>> = {
  done,
  'nothing-to-do': { ...done, lanes: [], totals: { ...done.totals, rows_added: 0 } },
  'still-open': { ...done, history: open },
  interrupted: {
    ...done,
    lanes: [{ ...read, state: 'paused' }],
    history: open,
  },
  'quarantine-and-drift': {
    ...done,
    lanes: [{ ...read, quarantined: 3, drift: 3 }, factories],
    totals: { ...done.totals, quarantined: 3, drift: 3 },
  },
  superseded: failed({ ...read, state: 'superseded' }),
  // A list that is not served fails nothing; one lane that failed makes its feed fail.
  mixed: failed(
    read,
    { ...read, lane: 'live', rows_added: 50, ...failure('unreachable') },
    { ...factories, ...failure('unsupported'), rows_added: 0 },
  ),
  // A key that is refused is refused for each of its feeds.
  'key-refused': failed(
    ...[read, factories].map((lane) => ({ ...lane, ...failure('unauthorized') })),
  ),
};

/** As a run stores it. */
function failure(name: FailureClass): Pick<Lane, 'state' | 'failure' | 'reason'> {
  return {
    state: name === 'unsupported' ? name : 'failed',
    failure: name,
    reason: `${name}: HTTP 500, what the explorer said. ${failures[name].advice}`,
  };
}

test('the result of sync', async () => {
  const drawn = Object.entries(scenes).map(
    ([name, document]) => `# ${name}\n${drawnOn(usual, document).join('\n')}\n`,
  );
  await expect(drawn.join('\n')).toMatchFileSnapshot('snapshots/sync-result.txt');
  expectToFit((look) =>
    Object.values(scenes)
      .flatMap((one) => drawnOn(look, one))
      .join('\n'),
  );
});

/** How a class shows: most stop a lane; some stop nothing, and are counted. */
function sceneOf(name: FailureClass): SyncDocument {
  if (failures[name].stops !== 'nothing') return failed({ ...read, ...failure(name) });
  const counted = name === 'drifted' ? { drift: 1 } : { quarantined: 1 };
  return { ...done, lanes: [{ ...read, ...counted }], totals: { ...done.totals, ...counted } };
}

/** Its advice, or the command that is the advice. */
function saidOf(name: FailureClass): RegExp | string {
  const { stops, advice } = failures[name];
  if (stops === 'nothing') return /1 (?:item|field)/u;
  if (stops === 'key') return name === 'throttled' ? advice : /explorer-etl (?:check|plan)$/u;
  return name === 'unsupported' ? 'Remove it from the configuration' : advice;
}

test.each(Object.keys(failures) as FailureClass[])(
  'a failure of class %s, as sync says it',
  (name) => {
    // Below the table and the totals.
    const lines = drawnOn(usual, sceneOf(name)).slice(4);
    const text = lines.join(' ').replaceAll(/\s+/gu, ' ');
    expect(text).toMatch(saidOf(name));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  },
);

test('in a file no line is broken, so that a failure is found whole', () => {
  expect(drawnOn(plainLook, failed({ ...read, ...failure('rejected') }))).toContain(
    '  10/user-operations: rejected: HTTP 500, what the explorer said.',
  );
});
