import { beforeAll, describe, expect, test } from 'vitest';
import type { HostileFault } from '../../src/simulator/index.ts';
import { ledgerFaults } from '../support/ledger.ts';
import { eventually } from '../support/process.ts';
import { testKey } from '../support/sync.ts';
import { openHostileWorld, type FeedFacts, type HostileWorld } from './hostile-world.ts';

/** All feeds' first slices, or their recovery, on a busy machine, in ms. */
const boundMs = 100_000;

/** What a fault does to its feed; the reason is matched. */
interface Expected extends Omit<FeedFacts, 'reason'> {
  readonly reason: RegExp | null;
}

const degraded = (reason: RegExp): Expected => ({
  state: 'degraded',
  reason,
  stored: 0,
  quarantined: 0,
});
const failed = (stored: number, reason: RegExp): Expected => ({
  state: 'failed',
  reason,
  stored,
  quarantined: 0,
});
const whole: Expected = { state: 'idle', reason: null, stored: 45, quarantined: 0 };
/** One item of each of the five pages. */
const fiveRefused: Expected = { state: 'idle', reason: null, stored: 40, quarantined: 5 };

/** Which of the two depends on how the cut body was announced. */
const cut = degraded(/^(?:unreachable|envelope-invalid): /u);
const late = degraded(/^unreachable: .*(?:TIMEOUT|within 1200 ms)/u);
/** On a busy machine the time of the scene runs out before the size does. */
const tooLarge = degraded(
  /^(?:envelope-invalid: the body exceeds 16777216 bytes|unreachable: no complete answer within)/u,
);
const ended = degraded(/^unreachable: (?:UND_ERR_SOCKET|ECONNRESET)/u);
const noPage = degraded(/^envelope-invalid: /u);

const expected: Readonly<Record<HostileFault, Expected>> = {
  'cut-in-envelope': cut,
  'cut-at-last-byte': cut,
  'cut-in-item': cut,
  'cut-in-string': cut,
  'cut-in-escape': cut,
  'cut-in-character': cut,
  'cut-after-item': cut,
  'piece-missing': cut,
  'cut-in-gzip': degraded(/^unreachable: /u),
  'length-too-long': ended,
  'length-too-short': noPage,
  'gzip-bomb': tooLarge,
  'body-of-100-mb': tooLarge,
  'byte-a-second': late,
  'endless-headers': degraded(/^unreachable: UND_ERR_HEADERS_OVERFLOW/u),
  'slow-headers': late,
  'no-answer': late,
  redirect: degraded(/^unreachable: HTTP 302, redirected to 127\.0\.0\.1:\d+, not followed/u),
  'closed-without-answer': ended,
  reset: ended,
  'reset-in-body': ended,
  'not-http': degraded(/^unreachable: Response does not match/u),
  'unknown-encoding': degraded(/^unreachable: unknown content encoding/u),
  '200-html': degraded(/^envelope-invalid: HTTP 200, an HTML page: Just a moment/u),
  '200-error': degraded(/^envelope-invalid: HTTP 200, Internal server error/u),
  '200-empty': degraded(/^envelope-invalid: HTTP 200, an empty body/u),
  'other-shape': noPage,
  'items-as-object': noPage,
  'bare-list': noPage,
  'wrong-order': { ...whole, state: 'unordered', reason: /^unordered: / },
  'page-of-10000': whole,
  'cursor-repeated': failed(20, /^cursor loop/u),
  'cursor-circle-of-3': failed(30, /^cursor loop/u),
  'cursor-circle-of-1000': failed(1000, /^cursor loop/u),
  'cursor-growing': failed(45, /^cursor unreadable: page_token: is longer than 4096 characters/u),
  // A number where text was: of another type, so kept beside its column.
  'number-1e400': whole,
  'number-negative': fiveRefused,
  'number-hex': fiveRefused,
  'number-float': whole,
  'number-huge': fiveRefused,
  'time-of-year-10000': fiveRefused,
  'time-of-year-0': fiveRefused,
  'time-of-no-day': fiveRefused,
  'string-of-1-mb': whole,
  'nested-1000': fiveRefused,
  'nested-100000': fiveRefused,
  'lone-surrogate': whole,
  'proto-key': whole,
  'constructor-key': whole,
};
const names = Object.keys(expected) as HostileFault[];

const bare = ({ state, stored, quarantined }: FeedFacts | Expected) =>
  JSON.stringify({ state, stored, quarantined });

let world: HostileWorld;
/** While the faults last. */
let met: Readonly<Record<string, FeedFacts>>;
let neighbours: Readonly<Record<string, FeedFacts>>;
/** When they have ended. */
let recovered: Readonly<Record<string, FeedFacts>>;
let differing: Awaited<ReturnType<HostileWorld['differences']>>;

beforeAll(async () => {
  world = await openHostileWorld(names);
  // Where one of them does not come to pass, its own test says so.
  await eventually('every fault to show', boundMs, async () => {
    met = await world.facts('user-operations');
    neighbours = await world.facts('factories');
    return (
      names.every((name) => bare(met[name] ?? whole) === bare(expected[name])) &&
      names.every((name) => neighbours[name]?.state === 'idle')
    );
  }).catch(() => undefined);
  world.mend();
  // Twice: what is live is looked at only where something is covered.
  for (let time = 0; time < 2; time += 1) {
    await world.tick();
    await eventually('every feed to rest', boundMs, async () => {
      await world.timePasses();
      return world.isAtRest();
    }).catch(() => undefined);
  }
  recovered = await world.facts('user-operations');
  differing = await world.differences();
  return () => world.close();
}, 2 * boundMs);

describe.each(names)('%s', (name) => {
  test('leaves its feed in the state that says so, with its reason', () => {
    expect(met[name]?.state).toBe(expected[name].state);
    expect(met[name]?.reason ?? '').toMatch(expected[name].reason ?? /^$/u);
  });

  test('keeps what was sound, and what was not in quarantine', () => {
    expect(met[name]).toMatchObject({
      stored: expected[name].stored,
      quarantined: expected[name].quarantined,
    });
  });

  test('is over when it ends: nothing is lost, doubled or damaged', () => {
    expect(recovered[name]?.state).toBe('idle');
    expect(differing[name]).toEqual({});
  });
});

test('other feeds of the same chains go on', () => {
  expect(names.filter((name) => neighbours[name]?.state !== 'idle')).toEqual([]);
});

test('nothing is asked of the host that a redirect names', () => {
  expect(world.elsewhere()).toBe(0);
});

test('no key is in any log line or reason', () => {
  const said = [...world.lines, ...Object.values(met).map(({ reason }) => reason ?? '')];
  expect(said.filter((line) => line.includes(testKey))).toEqual([]);
});

test('no object of this process is polluted', () => {
  expect({}).not.toHaveProperty('polluted');
});

test('the ledger is whole', async () => {
  expect(await ledgerFaults(world.pool, 'under-way')).toEqual({});
});
