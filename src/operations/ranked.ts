import type { z } from 'zod';
import type { KindOf } from './define.ts';
import type { ConfigDefaults, Operation } from './operation.ts';

/** A list whose order changes: it is true only as a whole. */
export const ranked =
  (
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    conclusions: Pick<Operation<z.ZodType>, 'judgeEnd' | 'afterPage' | 'afterWalk'>,
  ): KindOf =>
  () => ({
    kind: 'ranked',
    order: null,
    defaults: { schedule, overlap: '0s', resweep: [] },
    decidesMembership: false,
    columns: {},
    ...conclusions,
  });
