import { hashOf } from '../../address/decode.ts';
import { observeAddress } from '../../address/observe.ts';
import { unknownFields } from '../../drift/unknown-fields.ts';
import {
  isUnread,
  unreadBelow,
  unreadFields,
  unreadMembers,
  type Unread,
} from '../../drift/unread-values.ts';
import type { Row } from '../../db/row.ts';
import type { ItemRows, Place, Untold } from '../operation.ts';
import { block as blockSchema, type Block } from './decode.ts';

/** One block and all that hangs on it, as rows. */
export function normaliseBlock(block: Block, raw: unknown, place: Place): ItemRows {
  const { chain_id } = place;
  const part = { chain_id, block_height: block.height };
  // A member that is null says nothing; its neighbours keep their positions.
  const rewards = (block.rewards ?? []).flatMap((reward, position) =>
    reward ? { ...part, position, ...rewardRow(reward) } : [],
  );
  const uncles = (block.uncles_hashes ?? []).flatMap((uncle, position) =>
    uncle ? { ...part, position, hash: uncle.hash ?? null } : [],
  );
  const miner = block.miner ?? null;
  return {
    key: String(block.height),
    row: {
      chain_id,
      ...blockRow(block, place),
      extra: unknownFields(blockSchema, raw),
    },
    children: [
      rewards,
      uncles,
      block.arbitrum ? [{ ...part, ...arbitrumRow(block.arbitrum) }] : [],
    ],
    addresses:
      miner === null
        ? []
        : [
            observeAddress(miner, (raw as { miner: unknown }).miner, {
              ...place,
              unread: unreadBelow(place.unread, 'miner'),
            }),
          ],
    untold: untoldOf(block, place.unread),
    position: place.position,
    height: block.height,
  };
}

const columns: Readonly<Record<string, string>> = {
  miner: 'miner_hash',
  transaction_count: 'transactions_count',
  tx_count: 'transactions_count',
};

function untoldOf(block: Block, unread: Unread): Untold | null {
  const membersOf = (list: 'rewards' | 'uncles_hashes'): readonly number[] | 'all' =>
    isUnread(unread, list) ? 'all' : unreadMembers(block[list], unreadBelow(unread, list));
  const arbitrum: readonly number[] | 'all' = isUnread(unread, 'arbitrum')
    ? 'all'
    : unreadBelow(unread, 'arbitrum')
        .slice(0, 1)
        .map(() => 0);
  const children = [membersOf('rewards'), membersOf('uncles_hashes'), arbitrum];
  if (unread.length === 0 && children.every(({ length }) => length === 0)) return null;
  return { columns: unreadFields(unread).map((field) => columns[field] ?? field), children };
}

type Reward = NonNullable<NonNullable<Block['rewards']>[number]>;

const rewardRow = (reward: Reward): Row => ({
  reward: reward.reward ?? null,
  type: reward.type ?? null,
  address_hash: reward.address_hash ?? null,
});

function blockRow(block: Block, place: Place): Row {
  return {
    height: block.height,
    hash: block.hash,
    parent_hash: block.parent_hash ?? null,
    timestamp: block.timestamp ?? null,
    type: block.type ?? null,
    miner_hash: block.miner ? hashOf(block.miner) : null,
    nonce: block.nonce ?? null,
    size: block.size ?? null,
    is_pending_update: block.is_pending_update ?? null,
    transactions_count:
      block.transactions_count ?? block.transaction_count ?? block.tx_count ?? null,
    internal_transactions_count: block.internal_transactions_count ?? null,
    withdrawals_count: block.withdrawals_count ?? null,
    gas_limit: block.gas_limit ?? null,
    gas_used: block.gas_used ?? null,
    gas_used_percentage: block.gas_used_percentage ?? null,
    gas_target_percentage: block.gas_target_percentage ?? null,
    base_fee_per_gas: block.base_fee_per_gas ?? null,
    burnt_fees: block.burnt_fees ?? null,
    burnt_fees_percentage: block.burnt_fees_percentage ?? null,
    priority_fee: block.priority_fee ?? null,
    transaction_fees: block.transaction_fees ?? null,
    difficulty: block.difficulty ?? null,
    total_difficulty: block.total_difficulty ?? null,
    optimism_batch_number: place.scope.batch ?? null,
  };
}

function arbitrumRow(arbitrum: NonNullable<Block['arbitrum']>): Row {
  const { commitment_transaction: commitment, confirmation_transaction: confirmation } = arbitrum;
  return {
    batch_number: arbitrum.batch_number ?? null,
    status: arbitrum.status ?? null,
    batch_data_container: arbitrum.batch_data_container ?? null,
    delayed_messages: arbitrum.delayed_messages ?? null,
    l1_block_number: arbitrum.l1_block_number ?? null,
    send_count: arbitrum.send_count ?? null,
    send_root: arbitrum.send_root ?? null,
    commitment_transaction_hash: commitment?.hash ?? null,
    commitment_transaction_status: commitment?.status ?? null,
    commitment_transaction_timestamp: commitment?.timestamp ?? null,
    confirmation_transaction_hash: confirmation?.hash ?? null,
    confirmation_transaction_status: confirmation?.status ?? null,
    confirmation_transaction_timestamp: confirmation?.timestamp ?? null,
  };
}
