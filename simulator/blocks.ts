import { checksumAddress, listOf, minerOf, renderMiner } from './addresses.ts';
import { batchRange, listedAtMs } from './batches.ts';
import { reorgsOf } from './motion.ts';
import { descending, printMembers, printNothing, type List } from './pages.ts';
import type { Random } from './random.ts';
import { hasUsualAmounts, instantOf, lacksHash, printInstant, weiOf } from './world.ts';
import type { World } from './world.ts';

/** A block as the chain knows it, before any generation prints it. Wei as decimal strings. */
export type Block = ReturnType<typeof drawBlock>;
type Arbitrum = ReturnType<typeof drawArbitrum>;

/** The blocks of a batch at a time, highest first. */
export function listBlocks(
  world: World,
  atMs: number,
  { batch, withSecretKey }: { readonly batch: string; readonly withSecretKey: boolean },
): List<Block> {
  const range = batchRange(world, Number(batch), atMs) ?? { lowest: 0, highest: -1 };
  return {
    bottom: range.lowest,
    head: range.highest,
    spacing: 1,
    between: (lowest, highest) =>
      descending(lowest, highest, (height) => blockAt(world, height, atMs)),
    positionOf: ({ height }) => ({ value: height, key: '' }),
    render: (block) => renderBlock(world, block, withSecretKey),
  };
}

/** Every how many blocks of the newest batch one is announced to change, on a chain that rests. */
const pendingEvery = 7;

/** The block that stands at a height at a time: a function of seed, chain, height and time alone. */
export function blockAt(world: World, height: number, atMs: number): Block {
  const { course } = world;
  const reorgs = reorgsOf(course, height, atMs);
  const parentEdition = reorgsOf(course, height - 1, atMs).length;
  const block = drawBlock(world, height, reorgs.length, parentEdition);
  if (height % pendingEvery === 0 && height >= world.pendingFrom) {
    return withFields(block, { is_pending_update: true });
  }
  const listedMs = Math.max(listedAtMs(world, height), reorgs.at(-1)?.atMs ?? -Infinity);
  if (atMs >= listedMs + course.pendingMs) return block;
  // What a block shows while it says that more will come.
  return withFields(block, {
    is_pending_update: true,
    burnt_fees: null,
    burnt_fees_percentage: null,
    priority_fee: null,
    transaction_fees: '0',
    transactions_count: Math.floor(block.fields.transactions_count / 2),
  });
}

const withFields = (block: Block, fields: Partial<Block['fields']>): Block => ({
  ...block,
  fields: { ...block.fields, ...fields },
});

/** The hash of a block, `edition` of those that have stood at its height; 0 is the first. */
export const blockHash = ({ draw }: World, height: number, edition: number): string =>
  draw('block', height, edition).hex(8);

/** Enough to show every kind of tag and label, few enough to repeat on every page. */
const miners = 12;

function drawBlock(world: World, height: number, edition: number, parentEdition: number) {
  const random = world.draw('block', height, edition);
  const wei = weiOf(world, height);
  const drawWei = (groups: number) =>
    wei(random.oneIn(9) ? null : random.decimal(1 + random.below(groups)));
  const hash = random.hex(8);
  const limit = 30_000_000 + random.below(30_000_000);
  const used = random.below(limit);
  const gas_target_percentage = random.oneIn(12) ? -100 : (used / limit) * 200 - 100;
  const timestampMs = instantOf(world, height, random.below(1000));
  const minerHash = minerOf(world, random.below(miners));
  return {
    height,
    ordinal: height,
    hash,
    lacksHash: lacksHash(world, height),
    parentHash: blockHash(world, height - 1, parentEdition),
    timestampMs,
    minerHash,
    // Under the contract's names.
    fields: {
      gas_limit: wei(String(limit)),
      gas_used: wei(String(used)),
      gas_used_percentage: (used / limit) * 100,
      gas_target_percentage,
      base_fee_per_gas: drawWei(2),
      burnt_fees: drawWei(4),
      burnt_fees_percentage: random.oneIn(8) ? null : random.below(1_300_000) / 10_000,
      difficulty: random.oneIn(2) ? wei('0') : drawWei(3),
      total_difficulty: drawWei(8),
      priority_fee: drawWei(3),
      transaction_fees: wei(random.decimal(1 + random.below(6))),
      nonce: random.hex(2),
      size: random.oneIn(15) ? null : 600 + random.below(200_000),
      transactions_count: random.below(400),
      is_pending_update: (random.oneIn(10) ? null : false) as boolean | null,
      ...(hasUsualAmounts(world) && drawFees(world.draw('block-fees', height, edition), used)),
    },
    rewards: drawRewards(world, random, wei),
    uncles: random.oneIn(9) ? [random.hex(8)] : [],
    arbitrum: world.chain.family === 'arbitrum' ? drawArbitrum(world, height, random) : null,
    /** Members of the object that the contract does not list. */
    extra: drawExtra(world, height, random),
  };
}

/** Usual amounts of a block. */
function drawFees(random: Random, used: number) {
  const baseFee = 1_000_000 + random.below(9_000_000);
  const tips = used * random.below(2_000_000);
  const burnt = used * baseFee;
  return {
    base_fee_per_gas: String(baseFee),
    burnt_fees: String(burnt),
    priority_fee: String(tips),
    transaction_fees: String(burnt + tips),
  };
}

const oldRewardTypes = ['Miner Reward', 'Emission Reward', 'Uncle Reward'] as const;
const rewardTypes = ['emission_funds', 'uncle', 'validator'] as const;

function drawRewards(world: World, random: Random, wei: (drawn: string) => string) {
  const isOld = world.chain.generation === 'v10';
  return random.list(2, () => ({
    reward: wei(random.decimal(1 + random.below(4))),
    type: random.pick(isOld ? oldRewardTypes : rewardTypes),
    // Known to v10 alone.
    addressHash: isOld ? minerOf(world, random.below(miners)) : null,
  }));
}

function drawExtra({ chain }: World, height: number, random: Random) {
  if (chain.family === 'celo') {
    const base_fee = { amount: random.decimal(3), token: { symbol: 'CELO', decimals: '18' } };
    const epoch_number = Math.floor(height / 17_280);
    return {
      celo: { epoch_number, is_epoch_block: height % 17_280 === 0, base_fee },
      l1_epoch_number: random.below(100_000),
    };
  }
  if (chain.family !== 'optimism' || !random.oneIn(3)) return null;
  return { optimism: { batch_data_container: 'in_blob4844', frames: [random.below(9), null] } };
}

const arbitrumStatuses = listOf(
  'Confirmed on base, Sent to base, Sealed on rollup, Processed on rollup',
);
const containers = listOf('in_blob4844, in_calldata, in_celestia, in_anytrust, in_eigenda');

/** What an Arbitrum chain says of a block. */
function drawArbitrum(world: World, height: number, random: Random) {
  const known = <Value>(value: () => Value, unknownEvery = 7) =>
    random.oneIn(unknownEvery) ? null : value();
  const transaction = () => {
    if (random.oneIn(4)) return { hash: null, status: null, timestampMs: null };
    return {
      hash: known(() => random.hex(8), 6),
      status: known(() => random.pick(['unfinalized', 'finalized']), 6),
      timestampMs: known(() => instantOf(world, height + 300, random.below(1000)), 6),
    };
  };
  return {
    fields: {
      status: random.pick(arbitrumStatuses),
      batch_number: known(() => 1 + random.below(900_000)),
      batch_data_container: known(() => random.pick(containers)),
      delayed_messages: known(() => random.below(5)),
      l1_block_number: known(() => 20_000_000 + random.below(1_000_000)),
      send_count: known(() => random.below(200_000)),
      send_root: known(() => random.hex(8)),
    },
    commitment: transaction(),
    confirmation: transaction(),
  };
}

/** A block as the chain's generation prints it. */
function renderBlock(world: World, block: Block, withSecretKey: boolean): unknown {
  const isOld = world.chain.generation === 'v10';
  const shape = world.draw('block-shape', block.height);
  const { transactions_count, ...fields } = block.fields;
  const oldCount = () => (shape.oneIn(3) ? 'tx_count' : 'transaction_count');
  return {
    height: block.height,
    ...(block.lacksHash ? {} : { hash: block.hash }),
    parent_hash: block.parentHash,
    timestamp: printInstant(world, block.timestampMs),
    type: 'block',
    miner: renderMiner(world, block.minerHash, withSecretKey, shape),
    internal_transactions_count: null,
    withdrawals_count: null,
    [isOld ? oldCount() : 'transactions_count']: transactions_count,
    ...printMembers(fields, shape),
    rewards: block.rewards.map(({ reward, type, addressHash }) =>
      isOld
        ? { reward, type, address_hash: addressHash && checksumAddress(addressHash) }
        : { reward, type },
    ),
    uncles_hashes: block.uncles.map((hash) => ({ hash })),
    arbitrum: block.arbitrum ? renderArbitrum(world, block.arbitrum, shape) : printNothing(shape),
    ...block.extra,
  };
}

function renderArbitrum(world: World, arbitrum: Arbitrum, shape: Random): unknown {
  const transaction = ({ hash, status, timestampMs }: Arbitrum['commitment']) => {
    const isEmpty = hash === null && status === null && timestampMs === null;
    if (isEmpty && shape.oneIn(2)) return printNothing(shape);
    const timestamp = timestampMs === null ? null : printInstant(world, timestampMs);
    return printMembers({ hash, status, timestamp }, shape);
  };
  return {
    ...printMembers(arbitrum.fields, shape),
    commitment_transaction: transaction(arbitrum.commitment),
    confirmation_transaction: transaction(arbitrum.confirmation),
  };
}
