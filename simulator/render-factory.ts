import type { World } from './chain.ts';
import type { Factory } from './factories.ts';
import { Random } from './random.ts';
import { renderAddress } from './render-address.ts';

/** A factory as the chain's generation prints it. */
export function renderFactory(world: World, factory: Factory): unknown {
  const shape = new Random(world.streams['factory-shape'], factory.ordinal);
  const { addressHash, shown, lacksHash } = factory;
  return {
    address: lacksHash ? { name: 'x' } : renderAddress(world, addressHash, shown, shape),
    total_accounts: factory.totalAccounts,
    ...factory.extra,
  };
}
