import type { Operation } from '../operation.ts';
import { pageTokenCursor } from '../page-token.ts';
import { concludeRanking, noteRankingPage } from './ranking.ts';
import { factory } from './decode.ts';
import { guide } from './guide.ts';
import { judgeRankingEnd } from './end.ts';
import { normaliseFactory } from './normalise.ts';
import { requestFactories } from './request.ts';
import { factories as table, factoryHistory } from './tables.ts';

/** The wallet factories by number of accounts; each walk reads the whole list (spec 4.3). */
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
    await noteRankingPage(...page);
    return true;
  },
  afterWalk: concludeRanking,
  judgeEnd: judgeRankingEnd,
};
