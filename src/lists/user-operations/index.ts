import { z } from 'zod';
import { textOf } from '../../drift/fields.ts';
import { embeddedAddress } from '../../load/address.ts';
import { newestFirst, operation } from '../define.ts';
import { bigInteger, flag, hash, numberText, time } from '../item-rows.ts';
import { pageToken } from '../positions.ts';
import { userOperations as table } from './tables.ts';

/** The chain's ERC-4337 user operations, newest block first (spec 4.2 and table 2.4). */
export const userOperations = operation({
  name: 'user-operations',
  path: () => 'proxy/account-abstraction/operations',
  cursor: pageToken('hash'),
  item: z.looseObject({
    hash,
    address: embeddedAddress.nullish(),
    block_number: numberText.nullish(),
    entry_point: embeddedAddress.nullish(),
    entry_point_version: textOf('v0.6', 'v0.7', 'v0.8', 'v0.9'),
    fee: bigInteger,
    status: flag,
    timestamp: time,
    transaction_hash: hash.nullish(),
  }),
  table,
  key: ['hash'],
  version: ['block_number', 'transaction_hash'],
  list: newestFirst(
    { height: 'block_number', time: 'timestamp', unit: 'blocks' },
    {
      schedule: '*/5 * * * *',
      overlap: '30s',
      resweep: [
        { depth: '5m', every: '20m' },
        { depth: '1h', every: '8h' },
        { depth: '1d', every: '8d' },
      ],
    },
  ),
  offer: () => 'usual',
  guide: {
    list: 'user operations',
    items: 'operations',
    about: 'User operations of account abstraction, newest first.',
    example:
      () => `      # The history once, down to since: one page for every 50 operations. Then what is new.
      user-operations:
        schedule: '*/5 * * * *' # one page each time, and one for every 50 new ones
        overlap: 30s # how far below the newest known one each poll reads, for those that come late
        # resweep: [{ depth: 5m, every: 20m }, { depth: 1h, every: 8h }, { depth: 1d, every: 8d }]
        #   deeper polls; each costs depth / every of the pages that are new: these, half as many
        # since: 2024-01-01 # leave older ones
`,
  },
});
