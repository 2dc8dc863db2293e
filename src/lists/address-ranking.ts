import { z } from 'zod';
import { embeddedAddress } from '../load/address.ts';
import { operation, ranked } from './define.ts';
import { count } from './item-rows.ts';
import type { rankedTables } from './kind-tables.ts';
import type { ConfigDefaults, Operation } from './operation.ts';
import { pageToken } from './positions.ts';

interface AddressRanking
  extends Pick<Operation, 'name' | 'offer'>, Pick<ConfigDefaults, 'schedule'> {
  readonly tables: ReturnType<typeof rankedTables>;
  /** A sentence. */
  readonly about: string;
}

/** A list of account abstraction that ranks addresses by a count (spec 4.3 and table 2.5). */
export const addressRanking = ({ name, tables, schedule, offer, about }: AddressRanking) =>
  operation({
    name,
    path: () => `proxy/account-abstraction/${name}`,
    cursor: pageToken('address'),
    // Changes of the total are kept for good: what is no count is missing.
    item: z.looseObject({
      address: embeddedAddress,
      ...Object.fromEntries(tables.counts.map((column) => [column, count])),
    }),
    table: tables.items,
    key: ['address_hash'],
    list: ranked({ schedule }, tables),
    offer,
    guide: {
      list: name,
      items: name,
      about,
      example: () => `      # The whole list each time: one page for every 50 ${name}.
      ${name}:
        schedule: '${schedule}'
`,
    },
  });
