import type { KindOf } from './define.ts';
import type { ConfigDefaults } from './guide.ts';
import type { ListOrder, NumberedWalk, Operation } from './operation.ts';

/**
 * One list for each number, each highest first. What it proves is concluded at a walk's end.
 *
 * @param number the column of the list's number, which no item tells
 */
export const numbered =
  (
    { number, ...columns }: ListOrder['columns'] & { readonly number: string },
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    conclusions: Pick<Operation<NumberedWalk>, 'judgeEnd' | 'afterWalk'>,
  ): KindOf<NumberedWalk> =>
  ({ orderBy }) => ({
    kind: 'numbered',
    // The cursor tells a height, and no key: the items alone are the witnesses.
    order: { ...orderBy(columns), unit: 'blocks', position: () => null, isProof: false },
    defaults: { schedule, overlap: '0s', resweep: [] },
    decidesMembership: true,
    isReplayable: true,
    columns: { [number]: ({ batch }) => batch },
    // A page alone says nothing beyond its rows.
    tellingPages: () => Promise.resolve(new Set()),
    afterPage: () => Promise.resolve(true),
    ...conclusions,
  });
