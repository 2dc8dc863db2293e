import { expect, onTestFinished, test } from 'vitest';
import {
  openFault,
  startSimulator,
  type FaultName,
  type SimulatedChain,
} from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 150,
  batches: { first: 1, count: 0, blocks: 0 },
  factories: 0,
};
const pages = 3;

/** Requests whose answers are cut: how a body is announced goes with their number. */
const struck = [0, 2, 4];

test.each<FaultName>(['cut-after-item', 'piece-missing', 'cut-at-last-byte', 'length-too-short'])(
  'an answer that is damaged once (%s) costs one more request, and the sync goes on',
  async (name) => {
    const fault = openFault(name);
    const simulator = await startSimulator({
      seed,
      chains: [chain],
      // Each page's first request; a list of three pages is requested in turn.
      faults: ({ number }) => (struck.includes(number) ? fault : null),
    });
    onTestFinished(() => simulator.close());
    const database = await freshDatabase();
    const results = await runSync(database, {
      url: simulator.url,
      chains: [chain],
      operations: ['user-operations'],
    });
    expect(results.map(({ state }) => state)).toEqual(['finished']);
    // The end is requested once more, too, because nothing supports it.
    expect(simulator.requests).toBe(pages + struck.length + 1);
    const { rows } = await database.pool.query('select attempts from etl.pages order by sequence');
    expect(rows).toEqual([{ attempts: 2 }, { attempts: 2 }, { attempts: 3 }]);
    expect(await differences(database.pool, seed, chain)).toEqual({});
  },
);
