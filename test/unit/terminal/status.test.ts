import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { statusText } from '../../../src/cli/status-text.ts';
import { statusDocument, type StatusDocument } from '../../../src/documents/status.ts';
import { failures, type FailureClass } from '../../../src/failure.ts';
import { awayStatus, unreadableStatus } from '../../../src/report/status-document.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import {
  sixFeeds,
  toldAt,
  toldFeed,
  toldLane,
  toldReading,
  toldStatus,
  type ToldFeed,
} from '../../harness/told-status.ts';
import { looks, usual } from './looks.ts';

/** A line of six feeds in a terminal of 80 columns has to fit 24 lines. */
const rows = 24;

/** A feed of which a class of failure is the last word. */
function failing(failure: FailureClass): StatusDocument {
  const { feed: state, advice } = failures[failure];
  const reason = `${failure}: HTTP 503, Service Unavailable. ${advice}`;
  const until = '2026-11-23T00:00:00.000Z';
  if (failure === 'database-away') return awayStatus(new Date(toldAt), 'connection refused');
  if (failure === 'item-invalid') return toldStatus([toldFeed({ quarantined: 3 })]);
  if (failure === 'drifted') return toldStatus([toldFeed({ drift: 2 })]);
  if (state === null) throw new Error(`nothing shows ${failure}`);
  const lane = toldLane({ run_state: 'open', state: 'resting', until });
  return toldStatus([
    toldFeed({ state, failure, reason, lanes: [lane] }),
    toldFeed({ chain_id: 42_220, chain_name: 'celo' }),
  ]);
}

const unread: Partial<ToldFeed> = {
  state: 'unread',
  rows: 0,
  pages: 0,
  last_page_at: null,
  last_page_age_s: null,
  last_success_at: null,
  coverage: { of: 'blocks', unit: 'blocks', covered: 0, gaps: 0, missing: 0 },
  freshness: {
    looked_at: null,
    age_s: null,
    objective: { seconds: 600, from: 'schedule' },
    is_met: null,
  },
  proved: { is_proved: false, share: null, basis: 'unknown', numbers: null },
  left: { requests: { least: 0, likely: null, most: null }, ends_at: null },
  lanes: [],
};

const late: Partial<ToldFeed> = {
  state: 'late',
  last_page_age_s: 3 * 86_400,
  freshness: {
    looked_at: '2026-11-19T11:22:00.000Z',
    age_s: 3 * 86_400,
    objective: { seconds: 600, from: 'schedule' },
    is_met: false,
  },
};

const stale: Partial<ToldFeed> = {
  state: 'stale',
  lag_s: 95_385_600,
  data: {
    newest_at: '2023-11-14T11:24:00.000Z',
    age_s: 95_385_600,
    usual_s: 300,
    limit_s: 21_600,
    is_met: false,
  },
};

const doing = (
  state: ToldFeed['lanes'][number]['state'] & ToldFeed['state'],
  quiet_s: number | null = null,
) =>
  toldReading({
    state,
    lanes: [toldLane({ lane: 'backfill', run_state: 'open', state, quiet_s })],
  });

const nobody = { workers: { start: 0, once: 0 }, next_poll_at: null } as const;
const failed = (state: ToldFeed['state'], failure: FailureClass | null) =>
  toldStatus([toldFeed({ state, failure, reason: `${failure ?? state}: as it was told.` })]);

/** Every state of a feed, as it comes about. */
const states: Readonly<Record<ToldFeed['state'], StatusDocument>> = {
  unread: toldStatus([toldFeed(unread)], nobody),
  current: toldStatus([toldFeed()]),
  partial: toldStatus([
    toldFeed({
      state: 'partial',
      coverage: { of: 'blocks', unit: 'blocks', covered: 108_000_000, gaps: 2, missing: 1_234 },
      proved: { is_proved: true, share: 0.98, basis: 'reckoned', numbers: null },
      left: { requests: { least: 12, likely: 12, most: 12 }, ends_at: null },
    }),
  ]),
  late: toldStatus([toldFeed(late)]),
  stale: toldStatus([toldFeed(stale)]),
  done: toldStatus([
    toldFeed({
      state: 'done',
      freshness: {
        looked_at: '2026-11-19T11:22:00.000Z',
        age_s: 3 * 86_400,
        objective: null,
        is_met: null,
      },
    }),
  ]),
  running: toldStatus([toldReading()]),
  queued: toldStatus([doing('queued')]),
  awaiting: toldStatus([doing('awaiting', 40)]),
  stalled: toldStatus([doing('stalled', 400)]),
  paused: toldStatus([doing('paused')], nobody),
  unattended: toldStatus([doing('unattended')], nobody),
  unknown: toldStatus([doing('unknown')], {
    workers: null,
    standby: { behind_s: 0 },
    next_poll_at: null,
  }),
  degraded: failed('degraded', 'unreachable'),
  waiting: failed('waiting', 'out-of-credits'),
  unauthorized: failed('unauthorized', 'unauthorized'),
  unsupported: failed('unsupported', 'unsupported'),
  unordered: failed('unordered', null),
  failed: failed('failed', 'cursor-loop'),
};

/** The whole in other states than those of its feeds. */
const wholes: Readonly<Record<string, StatusDocument>> = {
  'six feeds': toldStatus(sixFeeds()),
  'all is well': toldStatus(
    sixFeeds().map((feed) =>
      toldFeed({
        ...toldFeed(),
        feed: feed.feed,
        chain_id: feed.chain_id,
        chain_name: feed.chain_name,
        operation: feed.operation,
      }),
    ),
  ),
  'nothing is there': toldStatus([], nobody),
  'nobody works, and it is late': toldStatus([toldFeed(late)], nobody),
  'one of two was never read': toldStatus([
    toldFeed(),
    toldFeed({ ...unread, operation: 'factories', feed: '10/factories' }),
  ]),
  'a standby far behind': toldStatus([toldFeed()], { workers: null, standby: { behind_s: 600 } }),
  'a standby that sees no page': toldStatus(
    [
      toldReading({
        state: 'unknown',
        lanes: [
          toldLane({ lane: 'backfill', run_state: 'open', state: 'unknown', last_page_age_s: 900 }),
        ],
      }),
    ],
    { workers: null, standby: { behind_s: 0 } },
  ),
  'a standby that nobody knows of': toldStatus([toldFeed()], {
    workers: null,
    standby: { behind_s: null },
  }),
  'credits that do not last': toldStatus([toldReading()], {
    credits: {
      ...toldStatus([]).credits,
      forecast: { kind: 'lasts-until', at: '2026-11-22T19:40:00.000Z' },
    },
  }),
  'a history that takes days': toldStatus([toldReading()], {
    credits: {
      ...toldStatus([]).credits,
      forecast: { kind: 'history-takes-days', days: { least: 3, most: 3 } },
    },
  }),
  'a database that takes too long': unreadableStatus(
    new Date(toldAt),
    'canceling statement due to statement timeout (57014)',
  ),
  'a census that is taken anew': toldStatus([
    toldFeed({
      operation: 'factories',
      feed: '10/factories',
      coverage: { of: 'ranking', as_of: toldAt, factories: 500 },
      lanes: [toldLane({ lane: 'backfill', run_state: 'open', state: 'running' })],
    }),
  ]),
  'much is wrong': toldStatus(
    sixFeeds().map((feed, at) => ({
      ...feed,
      state: at % 2 === 0 ? ('degraded' as const) : ('failed' as const),
      failure: at % 2 === 0 ? ('unreachable' as const) : ('rejected' as const),
      reason: `${feed.feed} said something that is rather long for a line of a terminal, and goes on and on`,
      quarantined: at,
      drift: 1,
      archived_bytes: 3_000_000_000,
    })),
  ),
};

const scenes = [
  ...Object.entries(states).map(([name, document]) => [`state ${name}`, document] as const),
  ...Object.keys(failures).map((name) => [`class ${name}`, failing(name as FailureClass)] as const),
  ...Object.entries(wholes),
];

test('every state of the document is drawn', () => {
  expect(Object.keys(states).toSorted()).toEqual(
    statusDocument.shape.feeds.element.shape.state.options.toSorted(),
  );
});

test('every verdict and every reason is drawn', () => {
  const { kind, reasons } = statusDocument.shape.verdict.shape;
  const told = scenes.map(([, { verdict }]) => verdict);
  expect([...new Set(told.map((verdict) => verdict.kind))].toSorted()).toEqual(
    kind.options.toSorted(),
  );
  const shown = new Set(told.flatMap((verdict) => verdict.reasons.map((reason) => reason.kind)));
  const known = reasons.element.options.map((option) => option.shape.kind.value);
  // Held against a real copy in test/integration/report/status.test.ts.
  const elsewhere = new Set(['doubtful', 'without-blocks', 'unproved', 'unattended']);
  expect(known.filter((name) => !shown.has(name) && !elsewhere.has(name))).toEqual([]);
});

describe.each(scenes)('%s', (name, document) => {
  test('is a document', () => {
    expect(statusDocument.parse(document)).toEqual(document);
  });

  test('on 80 columns', async () => {
    const file = name.replaceAll(/[^a-z]+/gu, '-');
    await expect(statusText(document, usual)).toMatchFileSnapshot(`snapshots/status/${file}.txt`);
  });

  test.each(Object.values(looks))('fits $columns columns, coloured: $isColoured', (look) => {
    const text = statusText(document, look);
    const lines = text.trimEnd().split('\n');
    // A command stays whole, so that it can be copied.
    const prose = lines.filter(
      (line) => !stripVTControlCharacters(line).startsWith('    explorer-etl '),
    );
    const drawn = look.columns < 80 ? prose : lines;
    expect(drawn.filter((line) => widthOf(line) > look.columns)).toEqual([]);
    expect(lines.length).toBeLessThan(rows);
    expect(text.includes('\u001b')).toBe(look.isColoured);
  });
});
