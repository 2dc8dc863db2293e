import { expect, test } from 'vitest';
import { type Fault, type SimulatedChain, statusFaults } from '../../simulator/index.ts';
import type { FailureClass } from '../../src/failure.ts';
import { loadSettings } from '../../src/config/load.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { configFolder, eventually, hangMs } from '../harness/process.ts';
import { firstId, openStruckWorld, type StruckWorld } from './struck-world.ts';
import { yearly } from '../harness/world.ts';

interface Case {
  readonly fault: Fault;
  /** What the fault does to its feed. */
  readonly failure: FailureClass;
  /** Whether every feed of the key stops, or only the one that met it. */
  readonly stopsKey?: true;
  /** How many pages came before it; all when absent. */
  readonly after?: number;
}

const throttledForLong: Fault = {
  ...statusFaults['429-bare'],
  headers: { 'retry-after': 3600 },
};

/** A chain for each answer that is not a page: its user operations meet it while the fault lasts. */
const cases: Readonly<Record<string, Case>> = {
  '500': { fault: statusFaults['500'], failure: 'unreachable' },
  '502-html': { fault: statusFaults['502-html'], failure: 'unreachable' },
  '503': { fault: statusFaults['503'], failure: 'unreachable' },
  '504': { fault: statusFaults['504'], failure: 'unreachable' },
  '403': { fault: statusFaults['403'], failure: 'forbidden' },
  '403-html': { fault: statusFaults['403-html'], failure: 'intercepted' },
  '404-ingress': { fault: statusFaults['404-ingress'], failure: 'unsupported' },
  '404-later': { fault: statusFaults['404-ingress'], failure: 'unreachable', after: 1 },
  '200-html': { fault: { status: 200, body: '<html>Sorry</html>' }, failure: 'intercepted' },
  '200-error': { fault: { status: 200, body: { error: 'oops' } }, failure: 'envelope-invalid' },
  '400-action': { fault: statusFaults['400-action'], failure: 'unsupported' },
  '404-network': { fault: statusFaults['404-network'], failure: 'unknown-chain' },
  '501': { fault: statusFaults['501'], failure: 'unsupported' },
  '422': { fault: statusFaults['422'], failure: 'rejected' },
  '400-token': { fault: statusFaults['400-token'], failure: 'cursor-refused', after: 1 },
  '429': { fault: throttledForLong, failure: 'throttled', stopsKey: true },
  '402-credits': { fault: statusFaults['402-credits'], failure: 'out-of-credits', stopsKey: true },
  '401': { fault: statusFaults['401'], failure: 'unauthorized', stopsKey: true },
  '402-key': { fault: statusFaults['402-key'], failure: 'key-missing', stopsKey: true },
};

const names = Object.keys(cases);
const pageSize = 10;
const keyOf = (name: string) => `key-of-${name}`;

/** Each chain with a key of its own, as far as keys are stopped. */
const configOf = (chains: readonly SimulatedChain[]) => ({
  explorer: {
    requests_per_second: 1000,
    page_size: pageSize,
    keys: Object.fromEntries(names.map((name, index) => [name, { env: `KEY_${index}` }])),
  },
  chains: chains.map(({ id, name }, index) => ({
    id,
    name,
    key: names[index],
    operations: {
      'user-operations': { schedule: yearly, parallel: 1 },
      factories: { schedule: yearly },
    },
  })),
});

async function openScene() {
  /** What was requested of each chain, by its fault. */
  const requests = new Map<string, string[]>(names.map((name) => [name, []]));
  const requestsOf = (chainId: number) => requests.get(names[chainId - firstId] ?? '') ?? [];
  let world: StruckWorld | null = null;
  const failureOf = async (name: string) => (await world?.failures('user-operations'))?.[name];
  const keys = names.map((name, index) => [`KEY_${index}`, keyOf(name)]);
  world = await openStruckWorld({
    seed: 11,
    names,
    struck: ['user-operations'],
    apiKey: names.map(keyOf),
    chainOf: () => ({ userOperations: 25, factories: 5 }),
    faultOf: (name) => cases[name]?.fault ?? statusFaults['500'],
    isMet: (name, url) => cases[name]?.after === undefined || url.searchParams.has('page_token'),
    onRequest: ({ chainId, operation }) => void requestsOf(chainId).push(operation),
    // What the other feed asks beside is answered once the key is stopped, so it could ask more only against that.
    hold({ chainId, operation }) {
      const name = names[chainId - firstId] ?? '';
      const { stopsKey, failure } = cases[name] ?? {};
      const isSent = requestsOf(chainId).includes('user-operations');
      if (world?.isBroken() === false || !isSent || operation !== 'factories' || stopsKey !== true)
        return null;
      const isStopped = async () => (await failureOf(name)) === failure;
      return eventually('its key to stop', isStopped).then(() => undefined);
    },
    settingsOf: async (url, chains) =>
      loadSettings({
        cwd: await configFolder(configOf(chains)),
        env: { EXPLORER_BASE_URL: url, ...Object.fromEntries(keys) },
      }),
  });
  return { world, requests };
}

test('each kind of response that is not a page stops what its class says, loses no row, and ends with its cause', async () => {
  const { world, requests } = await openScene();
  const shown = { timeout: hangMs, interval: 100 };
  const expected = Object.fromEntries(names.map((name) => [name, cases[name]?.failure]));
  await expect.poll(() => world.failures('user-operations'), shown).toEqual(expected);
  const others = names.filter((name) => cases[name]?.stopsKey !== true);
  const goOn = Object.fromEntries(others.map((name) => [name, null]));
  await expect.poll(() => world.failures('factories'), shown).toMatchObject(goOn);
  const stored = Object.entries(await world.facts('user-operations'));
  expect(Object.fromEntries(stored.map(([name, facts]) => [name, facts.stored]))).toEqual(
    Object.fromEntries(names.map((name) => [name, (cases[name]?.after ?? 0) * pageSize])),
  );
  for (const name of names.filter((each) => cases[each]?.stopsKey)) {
    const requested = requests.get(name) ?? [];
    const after = requested.slice(requested.indexOf('user-operations') + 1);
    // The other feed's request, if it was on its way already.
    expect([[], ['factories']], name).toContainEqual(after);
  }

  world.fix();
  const allWell = Object.fromEntries(names.map((name) => [name, null]));
  await world.passDay();
  for (const list of ['user-operations', 'factories'] as const) {
    expect(await world.failures(list)).toEqual(allWell);
  }
  expect(await world.differences()).toEqual(Object.fromEntries(names.map((name) => [name, {}])));
  expect(await ledgerFaults(world.pool, 'under-way')).toEqual({});
  const recovered = (name: string) => {
    const at = names.indexOf(name);
    const [event, whose] = cases[name]?.stopsKey
      ? ['key.accepted', `KEY_${at}:`]
      : ['feed.recovered', `${firstId + at}/user-operations`];
    return world.lines.some((line) => line.includes(event) && line.includes(whose));
  };
  expect(names.filter((name) => !recovered(name))).toEqual([]);
});
