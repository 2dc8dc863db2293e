import type { HostileFault, OperationName } from '../../simulator/index.ts';
import { eventually } from '../harness/process.ts';
import {
  isLong,
  openHostileWorld,
  timeouts,
  type FeedFacts,
  type HostileWorld,
} from './hostile-world.ts';
import { hangMs } from '../harness/hang.ts';

/** A poll of so many feeds costs the database more than a poll of one, in ms between two. */
const pollMs = 250;

/** What a fault does to its feed; the reason is matched. */
export interface Expected extends Omit<FeedFacts, 'reason'> {
  readonly reason: RegExp | null;
}

export type ExpectedByFault = Readonly<Record<HostileFault, Expected>>;

const degraded = (reason: RegExp): Expected => ({
  state: 'degraded',
  reason,
  stored: 0,
  quarantined: 0,
});

export const failed = (stored: number, reason: RegExp): Expected => ({
  state: 'failed',
  reason,
  stored,
  quarantined: 0,
});

export const idle = (stored: number, quarantined = 0): Expected => ({
  state: 'idle',
  reason: null,
  stored,
  quarantined,
});

/** Which of the two depends on how the cut body was announced. */
const cut = degraded(/^(?:unreachable|envelope-invalid): /u);
const late = degraded(new RegExp(`^unreachable: .*(?:TIMEOUT|within ${timeouts.totalMs} ms)`, 'u'));
/** On a busy machine the time of the scene runs out before the size does. */
const tooLarge = degraded(
  /^(?:envelope-invalid: the body exceeds 16777216 bytes|unreachable: no complete answer within)/u,
);
const ended = degraded(/^unreachable: (?:UND_ERR_SOCKET|ECONNRESET)/u);
const noPage = degraded(/^envelope-invalid: /u);

/** What is no page is none of any list. */
export const noPages = {
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
} as const satisfies Partial<ExpectedByFault>;

type Facts = Readonly<Record<string, FeedFacts>>;

/** What came to pass: while the faults lasted, and when they had ended. */
export interface HostileStory {
  readonly world: HostileWorld;
  /** By list, then by fault. */
  readonly met: Readonly<Record<string, Facts>>;
  readonly neighbours: Facts;
  readonly recovered: Readonly<Record<string, Facts>>;
  readonly differing: Awaited<ReturnType<HostileWorld['differences']>>;
}

/**
 * Lets every fault strike its lists, ends them, and lets two times of the schedule pass: what is live
 * is looked at only where something is covered. Where something does not come to pass, its own test
 * is to say so.
 */
export async function playHostile(
  expected: Readonly<Partial<Record<OperationName, ExpectedByFault>>>,
  neighbour: OperationName,
): Promise<HostileStory> {
  const lists = Object.entries(expected) as [OperationName, ExpectedByFault][];
  const struck = lists.map(([list]) => list);
  const named = Object.keys(lists[0]?.[1] ?? {}) as HostileFault[];
  // The long ones first: they take as long as all others together.
  const names = named.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  const world = await openHostileWorld(names, { struck, neighbour });
  let met: Record<string, Facts> = {};
  let neighbours: Facts = {};
  const isShown = async () => {
    met = await factsOf(world, struck);
    neighbours = await world.facts(neighbour);
    return names.every(
      (name) =>
        neighbours[name]?.state === 'idle' &&
        lists.every(([list, facts]) => isAsExpected(met[list]?.[name], facts[name])),
    );
  };
  await eventually('every fault to show', hangMs, isShown, pollMs).catch(() => undefined);
  world.fix();
  for (let time = 0; time < 2; time += 1) await passRun(world);
  const recovered = await factsOf(world, struck);
  return { world, met, neighbours, recovered, differing: await world.differences() };
}

/** The next time of the schedule, until all is at rest. */
export async function passRun(world: HostileWorld): Promise<void> {
  await world.run();
  const isAtRest = async () => {
    await world.timePasses();
    return world.isAtRest();
  };
  await eventually('every feed to rest', hangMs, isAtRest, pollMs).catch(() => undefined);
}

async function factsOf(world: HostileWorld, lists: readonly OperationName[]) {
  const facts: Record<string, Facts> = {};
  for (const list of lists) facts[list] = await world.facts(list);
  return facts;
}

const isAsExpected = (facts: FeedFacts | undefined, expected: Expected) =>
  facts?.state === expected.state &&
  // A busy machine may have met a limit of time first; then the next poll says what is the matter.
  (expected.reason ?? /^$/u).test(facts.reason ?? '') &&
  facts.stored === expected.stored &&
  facts.quarantined === expected.quarantined;
