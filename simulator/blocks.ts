import { minerOf } from './address-facts.ts';
import { drawArbitrum, type ArbitrumFacts } from './arbitrum.ts';
import { listedAtMs, newestBatchFloor } from './batches.ts';
import { lacksHash, weiOf, type World } from './chain.ts';
import { instantOf } from './instant.ts';
import { plausibleContents } from './plausible-block.ts';
import { editionOf, Random } from './random.ts';
import { reorgsOf } from './reorgs.ts';

/** A block as the chain knows it, before any generation prints it. Wei as decimal strings. */
export interface Block {
  readonly height: number;
  readonly hash: string;
  readonly lacksHash: boolean;
  readonly parentHash: string;
  readonly timestampMs: number;
  readonly minerHash: string;
  readonly baseFeePerGas: string | null;
  readonly burntFees: string | null;
  readonly burntFeesPercentage: number | null;
  readonly difficulty: string | null;
  readonly totalDifficulty: string | null;
  readonly priorityFee: string | null;
  readonly transactionFees: string;
  readonly gasLimit: string;
  readonly gasUsed: string;
  readonly gasUsedPercentage: number;
  readonly gasTargetPercentage: number;
  readonly nonce: string;
  readonly size: number | null;
  readonly transactionsCount: number;
  readonly isPendingUpdate: boolean | null;
  readonly rewards: readonly Reward[];
  readonly uncles: readonly string[];
  readonly arbitrum: ArbitrumFacts | null;
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

export interface Reward {
  readonly reward: string;
  readonly type: string;
  /** Known to v10 alone. */
  readonly addressHash: string | null;
}

/** Enough to show every kind of tag and label, few enough to repeat on every page. */
const miners = 12;

/** Every how many blocks of the newest batch one is announced to change, on a chain that rests. */
const pendingEvery = 7;

const rewardTypes = {
  v10: ['Miner Reward', 'Emission Reward', 'Uncle Reward'],
  v11: ['emission_funds', 'uncle', 'validator'],
  v12: ['emission_funds', 'uncle', 'validator'],
} as const;

/** The block that stands at a height at a time: a function of seed, chain, height and time alone. */
export function blockAt(world: World, height: number, atMs: number): Block {
  const { course } = world;
  if (course === null) return restingBlock(world, height);
  const reorgs = reorgsOf(world, course, height, atMs);
  const parentEdition = reorgsOf(world, course, height - 1, atMs).length;
  const parentHash = blockHash(world, height - 1, parentEdition);
  const block = drawBlock(world, height, reorgs.length, parentHash);
  const listedMs = Math.max(listedAtMs(world, course, height), reorgs.at(-1)?.atMs ?? -Infinity);
  return atMs < listedMs + course.pendingMs ? withoutLateFacts(block) : block;
}

/** The hash of a block, `edition` of those that have stood at its height; 0 is the first. */
export function blockHash(world: World, height: number, edition: number): string {
  return new Random(editionOf(world.streams.block, edition), height).hex(8);
}

/** What a block shows while it says that more will come. */
function withoutLateFacts(block: Block): Block {
  return {
    ...block,
    isPendingUpdate: true,
    burntFees: null,
    burntFeesPercentage: null,
    priorityFee: null,
    transactionFees: '0',
    transactionsCount: Math.floor(block.transactionsCount / 2),
  };
}

/** On a chain that rests some of the newest blocks stay pending, and none below them. */
function restingBlock(world: World, height: number): Block {
  const block = drawBlock(world, height, 0, blockHash(world, height - 1, 0));
  const isPending = height % pendingEvery === 0 && height >= newestBatchFloor(world);
  return isPending ? { ...block, isPendingUpdate: true } : block;
}

function drawBlock(world: World, height: number, edition: number, parentHash: string): Block {
  const random = new Random(editionOf(world.streams.block, edition), height);
  const hash = random.hex(8);
  const wei = weiOf(world, height);
  const contents =
    world.lived === null
      ? drawContents(world, height, random)
      : plausibleContents(world.lived, height, random);
  return {
    ...contents,
    height,
    hash,
    lacksHash: lacksHash(world, height),
    parentHash,
    gasLimit: wei(contents.gasLimit),
    gasUsed: wei(contents.gasUsed),
    baseFeePerGas: wei(contents.baseFeePerGas),
    burntFees: wei(contents.burntFees),
    difficulty: wei(contents.difficulty),
    totalDifficulty: wei(contents.totalDifficulty),
    priorityFee: wei(contents.priorityFee),
    transactionFees: wei(contents.transactionFees),
    rewards: contents.rewards.map((reward) => ({ ...reward, reward: wei(reward.reward) })),
    extra: drawExtra(world, height, random),
  };
}

/** What a block holds: all but what tells it from others. */
export type Contents = Omit<Block, 'height' | 'hash' | 'lacksHash' | 'parentHash' | 'extra'>;

function drawContents(world: World, height: number, random: Random): Contents {
  const gas = drawGas(random);
  return {
    timestampMs: instantOf(world, height, random.below(1000)),
    minerHash: minerOf(world, random.below(miners)),
    ...gas,
    baseFeePerGas: drawWei(random, 2),
    burntFees: drawWei(random, 4),
    burntFeesPercentage: random.oneIn(8) ? null : random.below(1_300_000) / 10_000,
    difficulty: random.oneIn(2) ? '0' : drawWei(random, 3),
    totalDifficulty: drawWei(random, 8),
    priorityFee: drawWei(random, 3),
    transactionFees: random.decimal(1 + random.below(6)),
    nonce: random.hex(2),
    size: random.oneIn(15) ? null : 600 + random.below(200_000),
    transactionsCount: random.below(400),
    isPendingUpdate: random.oneIn(10) ? null : false,
    rewards: drawRewards(world, random),
    uncles: random.oneIn(9) ? [random.hex(8)] : [],
    arbitrum: world.chain.family === 'arbitrum' ? drawArbitrum(world, height, random) : null,
  };
}

function drawWei(random: Random, groups: number): string | null {
  return random.oneIn(9) ? null : random.decimal(1 + random.below(groups));
}

function drawGas(random: Random) {
  const limit = 30_000_000 + random.below(30_000_000);
  const used = random.below(limit);
  return {
    gasLimit: String(limit),
    gasUsed: String(used),
    gasUsedPercentage: (used / limit) * 100,
    gasTargetPercentage: random.oneIn(12) ? -100 : (used / limit) * 200 - 100,
  };
}

function drawRewards(world: World, random: Random): readonly Reward[] {
  const { generation } = world.chain;
  return Array.from({ length: random.below(3) }, () => ({
    reward: random.decimal(1 + random.below(4)),
    type: random.pick(rewardTypes[generation]),
    addressHash: generation === 'v10' ? minerOf(world, random.below(miners)) : null,
  }));
}

function drawExtra(world: World, height: number, random: Random): Record<string, unknown> | null {
  const { family } = world.chain;
  if (family === 'celo') {
    return {
      celo: {
        epoch_number: Math.floor(height / 17_280),
        is_epoch_block: height % 17_280 === 0,
        base_fee: { amount: random.decimal(3), token: { symbol: 'CELO', decimals: '18' } },
      },
      l1_epoch_number: random.below(100_000),
    };
  }
  if (family === 'optimism' && random.oneIn(3)) {
    return { optimism: { batch_data_container: 'in_blob4844', frames: [random.below(9), null] } };
  }
  return null;
}
