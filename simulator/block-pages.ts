import { checksumAddress, printMembers, printNothing, renderMiner } from './addresses.ts';
import { batchRange } from './batches.ts';
import { blockAt, type Arbitrum, type Block, type Reward } from './blocks.ts';
import {
  addCopies,
  answerPage,
  countedCursor,
  countedSize,
  pageEventsAt,
  readParameters,
  refuseParameters,
  type Answer,
} from './pages.ts';
import type { Random } from './random.ts';
import { printInstant, type Generation, type World } from './world.ts';

/** When a batch is read, and whether by the owner of its labels. */
interface BatchReading {
  readonly atMs: number;
  readonly withSecretKey: boolean;
}

/** A page of the blocks of a batch, heights descending. */
export function answerBatch(
  world: World,
  batch: string,
  query: URLSearchParams,
  { atMs, withSecretKey }: BatchReading,
): Answer {
  const { generation } = world.chain;
  const parameters = readParameters(query, ['block_number', 'items_count']);
  const before = parameters.integer('block_number', 0);
  const requested = parameters.integer('items_count', 1);
  if (!/^\d{1,15}$/.test(batch)) {
    parameters.problems.push({ name: 'batch_number_param', detail: 'Invalid integer' });
  }
  if (parameters.problems.length > 0) return refuseParameters(parameters.problems);

  const key = parameters.text('key');
  const range = batchRange(world, Number(batch), atMs);
  // A cursor of 0 is read as no cursor.
  const highest = Math.min(range?.highest ?? -1, before ? before - 1 : Infinity);
  if (range === null || highest < range.lowest) return answerPage(world, [], null, key);
  const lowest = Math.max(range.lowest, highest - countedSize(generation, requested) + 1);
  const length = highest - lowest + 1;
  const blocks = addCopies(
    Array.from({ length }, (_, place) => blockAt(world, highest - place, atMs)),
    highest < range.highest ? blockAt(world, highest + 1, atMs) : undefined,
    pageEventsAt(world, highest),
  );
  const items = blocks.map((block) => renderBlock(world, block, withSecretKey));
  const isLast = lowest === range.lowest;
  const next = isLast ? null : countedCursor(generation, { block_number: lowest }, length);
  return answerPage(world, items, next, key);
}

/** A block as the chain's generation prints it. */
function renderBlock(world: World, block: Block, withSecretKey: boolean): unknown {
  const { generation } = world.chain;
  const shape = world.draw('block-shape', block.height);
  const { nonce, size, transactions_count, is_pending_update, ...fields } = block.fields;
  return {
    height: block.height,
    ...(block.lacksHash ? {} : { hash: block.hash }),
    parent_hash: block.parentHash,
    timestamp: printInstant(generation, block.timestampMs),
    type: 'block',
    nonce,
    size: size ?? printNothing(shape),
    miner: renderMiner(world, block.minerHash, withSecretKey, shape),
    internal_transactions_count: null,
    withdrawals_count: null,
    [countName(generation, shape)]: transactions_count,
    ...printMembers(fields, shape),
    is_pending_update: is_pending_update ?? printNothing(shape),
    rewards: block.rewards.map((reward) => renderReward(generation, reward)),
    uncles_hashes: block.uncles.map((hash) => ({ hash })),
    arbitrum:
      block.arbitrum === null
        ? printNothing(shape)
        : renderArbitrum(generation, block.arbitrum, shape),
    ...block.extra,
  };
}

function countName(generation: Generation, shape: Random): string {
  if (generation !== 'v10') return 'transactions_count';
  return shape.oneIn(3) ? 'tx_count' : 'transaction_count';
}

function renderReward(generation: Generation, { reward, type, addressHash }: Reward): unknown {
  if (generation !== 'v10') return { reward, type };
  return { reward, type, address_hash: addressHash === null ? null : checksumAddress(addressHash) };
}

function renderArbitrum(
  generation: Generation,
  { fields, commitment, confirmation }: Arbitrum,
  shape: Random,
): unknown {
  const transaction = ({ hash, status, timestampMs }: Arbitrum['commitment']) => {
    const isEmpty = hash === null && status === null && timestampMs === null;
    if (isEmpty && shape.oneIn(2)) return printNothing(shape);
    const timestamp = timestampMs === null ? null : printInstant(generation, timestampMs);
    return printMembers({ hash, status, timestamp }, shape);
  };
  return {
    ...printMembers(fields, shape),
    commitment_transaction: transaction(commitment),
    confirmation_transaction: transaction(confirmation),
  };
}
