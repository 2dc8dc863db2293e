import type { Operation } from '../operation.ts';
import { pageTokenCursor } from '../page-token.ts';
import { concludeCensus, noteCensusPage } from './census.ts';
import { factory } from './decode.ts';
import { guide } from './guide.ts';
import { judgeCensusEnd } from './end.ts';
import { normaliseFactory } from './normalise.ts';
import { requestFactories } from './request.ts';
import { factories as table, factoryHistory } from './tables.ts';

/** The wallet factories by number of accounts; each walk is a census (spec 4.3). */
export const factories: Operation<typeof factory> = {
  name: 'factories',
  kind: 'ranked',
  table,
  children: [],
  tables: [factoryHistory, table],
  addressColumns: ['address_hash'],
  questionIndexes: [],
  guide,
  defaults: { schedule: '0 */6 * * *', overlap: '0s', resweep: [] },
  isOffered: () => true,
  version: [],
  request: requestFactories,
  cursor: pageTokenCursor,
  item: factory,
  normalise: normaliseFactory,
  order: null,
  decidesMembership: false,
  async afterPage(...page) {
    await noteCensusPage(...page);
    return true;
  },
  afterWalk: concludeCensus,
  judgeEnd: judgeCensusEnd,
};
