import type { KindOf } from './define.ts';
import type { ConfigDefaults } from './guide.ts';
import type { Operation, RankedWalk } from './operation.ts';

/** A list whose order changes: it is true only as a whole. */
export const ranked =
  (
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    conclusions: Pick<Operation<RankedWalk>, 'judgeEnd' | 'afterPage' | 'afterWalk'>,
  ): KindOf<RankedWalk> =>
  () => ({
    kind: 'ranked',
    order: null,
    defaults: { schedule, overlap: '0s', resweep: [] },
    decidesMembership: false,
    isReplayable: false,
    columns: {},
    tellingPages: (_tx, pages) => Promise.resolve(new Set(pages.map(({ walk }) => walk.page_id))),
    ...conclusions,
  });
