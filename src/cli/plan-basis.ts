import type { PlanDocument } from '../documents/plan.ts';
import { counted } from '../terminal/numbers.ts';

type Basis = PlanDocument['feeds'][number]['upkeep']['basis'];
type What = Basis[number]['what'];

const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** What an estimate is made of: `288 polls of 1.5 requests, 12,000 new items`. */
export const basisText = (basis: Basis): string =>
  basis
    .map(({ what, count, requests_each: each }) => {
      const [one, others] = names[what];
      const so = counted(Math.round(count), one, others);
      return each === null || each === 1 ? so : `${so} of ${tenths.format(each)} requests`;
    })
    .join(', ');

const names: Readonly<Record<What, readonly [one: string, others?: string]>> = {
  gap: ['gap'],
  batch: ['batch'],
  ranking: ['ranking'],
  poll: ['poll'],
  'deeper-poll': ['page of deeper polls', 'pages of deeper polls'],
  'new-item': ['new item'],
  'new-batch': ['new batch'],
  'batch-again': ['batch read again at most', 'batches read again at most'],
};
