import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain, type StatedItem } from '../../../simulator/index.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'stated',
  family: 'optimism',
  generation: 'v12',
  userOperations: 20,
  batches: { first: 1, count: 2, blocks: 10 },
  factories: 20,
};

const moreLists = { withdrawals: { path: 'withdrawals', paging: { cursor: 'id' } } };

/** An item that shows its place. */
const item = (value: number, key = ''): StatedItem => ({
  value,
  key,
  printed: { at: [value, key] },
});
const at = (...items: readonly StatedItem[]) => items.map(({ printed }) => printed['at']);

/** A chain that states its lists, beside one of other lists, and a reader of their pages of two. */
async function world(stated: NonNullable<SimulatedChain['stated']>) {
  const chains = [
    { ...chain, stated },
    { ...chain, id: 11 },
  ];
  const simulator = await startSimulator({ seed: 1, chains, moreLists });
  onTestFinished(() => simulator.close());
  const get = async (path: string, cursor: object = {}) => {
    const size = path.includes('proxy') ? 'page_size' : 'items_count';
    const query = { ...cursor, [size]: '2', apikey: 'simulated-key' };
    const response = await fetch(
      `${simulator.url}/${path}?${new URLSearchParams(query).toString()}`,
    );
    const { items = [], next_page_params: next = null } = (await response.json()) as {
      items?: { at: unknown }[];
      next_page_params?: object | null;
    };
    return { status: response.status, items: items.map((served) => served.at), next };
  };
  return { get, first: (path: string) => get(`10/api/v2/${path}`) };
}

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;

test.each([
  ['optimism/batches', [item(3), item(2), item(1)]],
  ['blocks/optimism-batch/7', [item(30), item(20), item(10)]],
  ['withdrawals', [item(3), item(2), item(1)]],
  [
    'proxy/account-abstraction/bundles',
    [item(9, `${hash('a')},0`), item(5, `${hash('b')},11`), item(5, `${hash('b')},2`)],
  ],
  [
    'proxy/account-abstraction/factories',
    [item(5, address('b')), item(5, address('a')), item(4, address('c'))],
  ],
])('the stated items of %s are served in order, page by page', async (path, items) => {
  const { get } = await world(() => items.toReversed());

  const head = await get(`10/api/v2/${path}`);
  const last = await get(`10/api/v2/${path}`, head.next ?? {});

  expect(head.items).toEqual(at(...items.slice(0, 2)));
  expect(last).toEqual({ status: 200, items: at(...items.slice(2)), next: null });
});

test('what is stated is read at each request, with the number of the batch', async () => {
  let top = 1;
  const { first } = await world((list, batch) => [item(top, `${list} ${batch}`)]);
  expect((await first('blocks/optimism-batch/7')).items).toEqual([[1, 'optimism-batch-blocks 7']]);
  top = 2;
  expect((await first('optimism/batches')).items).toEqual([[2, 'optimism-batches null']]);
});

test('only a chain that states its lists has lists beside those of the service', async () => {
  const { get } = await world(() => []);
  expect(await get('10/api/v2/withdrawals')).toMatchObject({ status: 200, items: [] });
  expect(await get('11/api/v2/withdrawals')).toMatchObject({ status: 404 });
  expect((await get('11/api/v2/optimism/batches')).items).not.toEqual([]);
});
