import { afterEach, expect, test } from 'vitest';
import {
  startSimulator,
  type Oddity,
  type SimulatedChain,
  type Simulator,
} from '../../../simulator/index.ts';
import { quarantined, truth } from '../../harness/truth/truth.ts';
import { addressHash, get, itemsOf, paths, smallChain, walk, type ServedPage } from './walk.ts';

const seed = 11;
const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(chain: SimulatedChain): Promise<string> {
  const simulator = await startSimulator({ seed, chains: [chain] });
  running.push(simulator);
  return `${simulator.url}/${chain.id}/api/v2`;
}

const odd = (...oddities: Oddity[]): SimulatedChain => ({ ...smallChain, oddities });

const distinct = (values: unknown[]) => [...new Set(values)].filter((v) => v !== undefined);

const isRepeated = ({ items }: ServedPage) =>
  new Set(items.map((item) => JSON.stringify(item))).size < items.length;

test.each(['v10', 'v11', 'v12'] as const)(
  'with every oddity %s loses no row and hands out no other',
  async (generation) => {
    const chain: SimulatedChain = {
      ...odd(
        'max-wei',
        'nul-in-name',
        'duplicates-in-page',
        'duplicates-across-pages',
        'empty-page-with-cursor',
        'missing-hash',
        'end-empty-object',
        'echo-key',
      ),
      generation,
    };
    const base = await start(chain);
    const { user_operations, factories, blocks } = truth(seed, chain);
    const pages = await walk(base, paths.operations, { page_size: '5' });
    expect(pages.filter(({ items }) => items.length === 0).length).toBeGreaterThan(2);
    expect(pages.filter(isRepeated).length).toBeGreaterThan(2);
    const operations = itemsOf(pages);
    const listed = itemsOf(await walk(base, paths.factories, { page_size: '5' }));
    const mined = [];
    for (let batch = 7; batch < 17; batch += 1) {
      mined.push(...itemsOf(await walk(base, paths.batch(batch))));
    }
    expect(distinct(operations.map((item) => item['hash']))).toEqual(
      user_operations.map((row) => row['hash']),
    );
    expect(distinct(listed.map((item) => addressHash(item['address'])))).toEqual(
      factories.map((row) => row['address_hash']),
    );
    expect(new Set(distinct(mined.map((item) => item['hash'])))).toEqual(
      new Set(blocks.map((row) => row['hash'])),
    );
    const hashless = [
      ...[...operations, ...mined].filter((item) => item['hash'] === undefined),
      ...listed.filter((item) => addressHash(item['address']) === undefined),
    ];
    expect(hashless).toHaveLength(quarantined(seed, chain));
    expect(hashless.length).toBeGreaterThan(5);
  },
);

test.each([
  ['end-absent', { items: [] }],
  ['end-empty-object', { items: [], next_page_params: {} }],
] as const)('%s ends a list so', async (oddity, expected) => {
  const base = await start({ ...odd(oddity), userOperations: 0 });
  const { body } = await get(base, paths.operations, { apikey: 'simulated-key' });
  expect(body).toEqual(expected);
});

test('the secret key is echoed only under echo-key', async () => {
  const query = { apikey: 'simulated-key', key: 'canary' };
  const echoing = await get(await start(odd('echo-key')), paths.factories, query);
  const silent = await get(await start(smallChain), paths.factories, query);
  expect(echoing.body['next_page_params']).toMatchObject({ key: 'canary' });
  expect(JSON.stringify(silent.body)).not.toContain('canary');
});

test('a NUL in a name is served, and is not in the truth', async () => {
  const chain = odd('nul-in-name');
  const text = JSON.stringify(await walk(await start(chain), paths.operations));
  expect(text).toContain('\\u0000');
  expect(JSON.stringify(truth(seed, chain))).not.toContain('\\u0000');
});
