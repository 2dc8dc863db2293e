import type { Lie } from './lies.ts';
import { listedItem } from './pages.ts';

/** Lies of the list of batches, which is read beside their blocks. */
export const listed: readonly Lie[] = [
  {
    name: 'without-blocks',
    lists: ['listed'],
    findable: true,
    // Ordinary: the list has a batch before the service has its blocks.
    tell({ request, honest, chance }) {
      const newest = Number(honest.items[0]?.['number'] ?? 0);
      if (request.cursor !== null || newest === 0) return null;
      const early = Array.from({ length: chance.whole(1, 5) }, (_, place) =>
        listedItem(newest + 1 + place, 1, 2),
      );
      return { page: { ...honest, items: [...early.toReversed(), ...honest.items] } };
    },
  },
];
