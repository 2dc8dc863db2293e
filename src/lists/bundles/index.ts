import { z } from 'zod';
import { embeddedAddress } from '../../load/address.ts';
import { newestFirst, operation } from '../define.ts';
import { hash, numberText, time } from '../item-rows.ts';
import { pageToken } from '../positions.ts';
import { bundles as table } from './tables.ts';

/** The chain's bundles of ERC-4337 user operations, newest block first. */
export const bundles = operation({
  name: 'bundles',
  path: () => 'proxy/account-abstraction/bundles',
  cursor: pageToken('hash', 'number'),
  item: z.looseObject({
    transaction_hash: hash,
    bundle_index: numberText,
    block_number: numberText.nullish(),
    bundler: embeddedAddress.nullish(),
    timestamp: time,
    total_ops: numberText.nullish(),
  }),
  table,
  key: ['transaction_hash', 'bundle_index'],
  version: ['block_number'],
  list: newestFirst(
    { height: 'block_number', time: 'timestamp', unit: 'blocks' },
    // A bundle's operations change while its block may be replaced.
    {
      schedule: '0 * * * *',
      overlap: '5m',
      resweep: [
        { depth: '1h', every: '8h' },
        { depth: '1d', every: '8d' },
      ],
    },
  ),
  offer: () => 'if-named',
  guide: {
    list: 'bundles',
    items: 'bundles',
    about: 'Bundles of user operations with their bundlers, newest first.',
    example:
      () => `      # Who bundled which operations. The history once: one page for every 50 bundles. Then what is new.
      bundles:
        schedule: '0 * * * *' # one page each time, and one for every 50 new ones
        overlap: 5m # how far below the newest known one each poll reads, since counts still change
`,
  },
});
