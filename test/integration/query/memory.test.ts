import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { answerStatement } from '../../../src/query/question.ts';
import { sharedDatabase } from '../../harness/database.ts';

const database = sharedDatabase();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What lives in the heap, in MB. Strings of over 1 MB are elsewhere. */
function livingMb(): number {
  collect();
  return process.memoryUsage().heapUsed / 1_000_000;
}

test('an answer of values that are cut keeps no more of them in memory', async () => {
  const text = `select repeat(chr(96 + n % 26), 900000) from generate_series(1, 100) as n`;
  const before = livingMb();

  const { rows } = await answerStatement(database.pool, { text, values: [] });

  expect(livingMb() - before).toBeLessThan(30);
  expect(rows.map(([value]) => value?.length)).toEqual(Array(100).fill(1_000));
  expect(rows[1]).toEqual(['b'.repeat(1_000)]);
});
