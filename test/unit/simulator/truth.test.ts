import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startSimulator,
  type Family,
  type Generation,
  type SimulatedChain,
  type Simulator,
} from '../../../simulator/index.ts';
import { checksumAddress, listOf } from '../../../simulator/addresses.ts';
import { truth } from '../../harness/truth/truth.ts';
import { addressHash, itemsOf, keyOf, paths, smallChain, walk, type Json } from './walk.ts';

const seed = 5;
const families: Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: Generation[] = ['v10', 'v11', 'v12'];
const chains = families.flatMap((family, row) =>
  generations.map((generation, column): SimulatedChain => {
    return {
      ...smallChain,
      id: 100 + row * 10 + column,
      name: keyOf(family, generation),
      family,
      generation,
    };
  }),
);
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ seed, chains, secretKey: 'secret' });
});
afterAll(() => simulator.close());

const at = (chain: SimulatedChain) => `${simulator.url}/${chain.id}/api/v2`;
const isoOf = (printed: unknown) => (printed ? new Date(printed as string).toISOString() : null);

async function readBlocks(chain: SimulatedChain): Promise<Json[]> {
  const blocks: Json[] = [];
  for (let batch = 7; batch < 17; batch += 1) {
    blocks.push(...itemsOf(await walk(at(chain), paths.batch(batch), { key: 'secret' })));
  }
  return blocks;
}

describe.each(chains)('the truth of $name', (chain) => {
  test('has the user operations that are served', async () => {
    const items = itemsOf(await walk(at(chain), paths.operations));
    expect(truth(seed, chain).user_operations).toEqual(
      items.map((item) => ({
        chain_id: chain.id,
        hash: item['hash'],
        address_hash: addressHash(item['address']),
        entry_point_hash: addressHash(item['entry_point']),
        entry_point_version: item['entry_point_version'],
        block_number: Number(item['block_number']),
        transaction_hash: item['transaction_hash'],
        fee: item['fee'],
        status: item['status'],
        timestamp: isoOf(item['timestamp']),
        removed_at: null,
        extra: 'bundle_index' in item ? { bundle_index: item['bundle_index'] } : null,
      })),
    );
  });

  test('has the factories that are served, ranked', async () => {
    const items = itemsOf(await walk(at(chain), paths.factories));
    const tables = truth(seed, chain);
    expect(tables.factories).toEqual(
      items.map((item, place) => ({
        chain_id: chain.id,
        address_hash: addressHash(item['address']),
        total_accounts: item['total_accounts'],
        rank: place + 1,
        missing_since: null,
        extra:
          'verified_deployments' in item
            ? { verified_deployments: item['verified_deployments'] }
            : null,
      })),
    );
    expect(tables.factory_history).toEqual(
      tables.factories.map((row) => without(row, 'rank', 'missing_since', 'extra')),
    );
  });

  test('has the blocks, rewards and uncles that are served', async () => {
    const items = await readBlocks(chain);
    const tables = truth(seed, chain);
    expect(tables.blocks.map((row) => without(row, 'extra', 'optimism_batch_number'))).toEqual(
      items.map((item) => blockOf(chain, item)),
    );
    const rewards = items.flatMap((item) => item['rewards'] as Json[]);
    expect(
      tables.block_rewards.map((row) => [row['reward'], row['type'], row['address_hash']]),
    ).toEqual(
      rewards.map((reward) => [
        reward['reward'],
        reward['type'],
        (reward['address_hash'] as string | undefined)?.toLowerCase() ?? null,
      ]),
    );
    expect(tables.block_uncles.map((row) => row['hash'])).toEqual(
      items.flatMap((item) => (item['uncles_hashes'] as Json[]).map((uncle) => uncle['hash'])),
    );
    const unknown = new Set(['celo', 'l1_epoch_number', 'optimism']);
    const extras = items.map((item) => Object.entries(item).filter(([name]) => unknown.has(name)));
    expect(tables.blocks.map((row) => row['extra'])).toEqual(
      extras.map((extra) => (extra.length > 0 ? Object.fromEntries(extra) : null)),
    );
  });

  test('has the arbitrum objects that are served', async () => {
    const objects = (await readBlocks(chain)).flatMap((item): Json[] =>
      item['arbitrum'] ? [{ ...(item['arbitrum'] as Json), height: item['height'] }] : [],
    );
    expect(truth(seed, chain).block_arbitrum).toEqual(
      objects.map((object) => ({
        chain_id: chain.id,
        block_height: object['height'],
        ...pick(object, arbitrumFields),
        ...transactionOf(object, 'commitment_transaction'),
        ...transactionOf(object, 'confirmation_transaction'),
      })),
    );
    expect(objects).toHaveLength(chain.family === 'arbitrum' ? 500 : 0);
  });

  test('has the addresses that are served, as far as they are known', async () => {
    const operations = itemsOf(await walk(at(chain), paths.operations));
    const factories = itemsOf(await walk(at(chain), paths.factories));
    const shown = [
      ...operations.flatMap((item) => [item['address'], item['entry_point']]),
      ...factories.map((item) => item['address']),
      ...(await readBlocks(chain)).map((item) => item['miner']),
    ];
    const tables = truth(seed, chain, { withSecretKey: true });
    const served = addressesOf(shown);
    expect(new Map(tables.addresses.map((row) => [row['hash'], without(row, 'chain_id')]))).toEqual(
      served.rows,
    );
    const slugs = tables.address_metadata_tags.map((row) =>
      keyOf(row['address_hash'], row['slug']),
    );
    expect(new Set(slugs)).toEqual(served.slugs);
    const labels = tables.address_labels.map((row) => keyOf(row['kind'], row['label']));
    expect(new Set(labels)).toEqual(served.labels);
    const implementations = tables.address_implementations.map((row) =>
      keyOf(row['address_hash'], row['position'], row['implementation_hash']),
    );
    expect(new Set(implementations)).toEqual(served.implementations);
    expect(slugs.length).toBeGreaterThan(0);
    expect(labels.length).toBeGreaterThan(0);
    expect(tables.address_watchlist_names.length).toBeGreaterThan(0);
  });
});

const blockFields = listOf(`
  height, hash, parent_hash, nonce, type, size, gas_limit, gas_used, gas_used_percentage,
  gas_target_percentage, difficulty, total_difficulty, base_fee_per_gas, burnt_fees,
  burnt_fees_percentage, priority_fee, transaction_fees, is_pending_update,
  internal_transactions_count, withdrawals_count`);
const addressFields = listOf('name, is_contract, is_scam, is_verified, proxy_type, reputation');

const arbitrumFields = listOf(`
  batch_number, status, batch_data_container, delayed_messages, l1_block_number, send_count,
  send_root`);
const transactionFields = ['hash', 'status', 'timestamp'];

const pick = (item: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, item[name] ?? null]));

function without(row: Json, ...names: string[]): Json {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function transactionOf(object: Json, name: string): Json {
  const { hash, status, timestamp } = pick((object[name] ?? {}) as Json, transactionFields);
  return {
    [`${name}_hash`]: hash,
    [`${name}_status`]: status,
    [`${name}_timestamp`]: isoOf(timestamp),
  };
}

function blockOf(chain: SimulatedChain, item: Json): Json {
  return {
    ...pick(item, blockFields),
    chain_id: chain.id,
    miner_hash: addressHash(item['miner']),
    timestamp: isoOf(item['timestamp']),
    transactions_count: item['transactions_count'] ?? item['transaction_count'] ?? item['tx_count'],
  };
}

function addressesOf(shown: unknown[]) {
  const rows = new Map<string, Json>();
  const [slugs, labels, implementations] = [new Set(), new Set(), new Set()];
  for (const address of shown) {
    const hash = addressHash(address) ?? 'none';
    const row = rows.get(hash) ?? blank(hash);
    rows.set(hash, row);
    const object = address as Json;
    if (typeof address === 'string' || isStub(object)) continue;
    Object.assign(row, pick(object, addressFields));
    const creator = object['creator_address_hash'];
    row['extra'] = creator === undefined ? null : { creator_address_hash: creator };
    row['ens_domain_name'] ??= object['ens_domain_name'] ?? null;
    const metadata = object['metadata'] as { tags: Json[] } | null | undefined;
    for (const tag of metadata?.tags ?? []) slugs.add(keyOf(hash, tag['slug']));
    for (const kind of ['private', 'public']) {
      for (const label of (object[`${kind}_tags`] ?? []) as Json[])
        labels.add(keyOf(kind, label['label']));
    }
    for (const [place, proxy] of ((object['implementations'] ?? []) as Json[]).entries()) {
      const target = String(proxy['address_hash'] ?? proxy['address']).toLowerCase();
      implementations.add(keyOf(hash, place, target));
    }
  }
  return { rows, slugs, labels, implementations };
}

const blank = (hash: string): Json => ({
  hash,
  ...pick({}, [...addressFields, 'ens_domain_name', 'extra']),
});

function isStub(address: Json): boolean {
  return address['is_verified'] === null && !address['name'] && address['is_contract'] === false;
}

// Examples of https://eips.ethereum.org/EIPS/eip-55.
test.each([
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
])('writes %s in the mixed case of EIP-55', (address) => {
  expect(checksumAddress(address.toLowerCase())).toBe(address);
});
