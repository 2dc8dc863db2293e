import { expect, test } from 'vitest';
import { questions, statementOf } from '../../../src/query/question.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { edits } from './batch-edits.ts';
import { copied, every, expectReported, found } from './findings-scene.ts';

test('a block that moved to the batch above is a finding, and no view calls its batch complete', async () => {
  const { query, pool } = await copied();
  const question = questions().filter(({ name }) => name === 'what-is-missing');
  const [{ text, values } = { text: '', values: [] }] = question.map((one) => statementOf(one, {}));
  const said = async () => ({
    found: await query('select place, kind from explorer.findings where is_open'),
    covered: await query('select from_block::int, to_block::int from explorer.coverage'),
    gaps: await query('select from_block::int, to_block::int from explorer.gaps'),
    settled: await query(
      `select batch_number::int from explorer.optimism_batches
       where state = 'settled' and is_verified order by 1`,
    ),
    answer: (await pool.query(text, [...values])).rows,
    status: await query(
      `select (batches -> 'verified')::int as verified, (batches -> 'unverified')::int as unverified
       from etl.feed_extents`,
    ),
  });
  const whole = { found: [], gaps: [], covered: [{ from_block: 1, to_block: 2 }] };
  expect(await said()).toMatchObject({
    ...whole,
    settled: [{ batch_number: 1 }, { batch_number: 2 }],
    answer: [{ covered_to: '2', gaps: '0', missing: '0' }],
    status: [{ verified: 2, unverified: 0 }],
  });

  await query(edits['another batch']);

  expect(await said()).toMatchObject({
    found: [{ place: 'batch 2', kind: 'mismatch' }],
    covered: [{ from_block: 1, to_block: 1 }],
    gaps: [{ from_block: 2, to_block: 2 }],
    settled: [{ batch_number: 1 }],
    answer: [{ covered_to: '1', gaps: '1', missing: '1' }],
    status: [{ verified: 1, unverified: 1 }],
  });
});

// The other edits are in `findings.long.test.ts`.
test.each(every.filter((_, at) => at % 2 === 0))(
  'verify reports the findings of %s as the view has them, and no view contradicts them',
  (_, edit) => expectReported(edit),
);

test('a block that was changed past the triggers is a finding of verify, and of every view after a recount', async () => {
  const { db, query, contradicted } = await copied();
  await query(`
    set session_replication_role = replica;
    ${edits['another batch']};
    reset session_replication_role`);
  expect(await contradicted()).not.toEqual([]);

  await recountCoverage(db);

  expect((await query(found)).filter(({ is_open }) => is_open)).toHaveLength(1);
  expect(await contradicted()).toEqual([]);
});

test('maintenance deletes the notes of edits that nothing contradicts any more, and no others', async () => {
  const { query, contradicted } = await copied();
  const edited = () =>
    query('select distinct batch_number::int from etl.edited_batches order by 1');
  await query(edits['an update to come']);
  await query(`
    update explorer.blocks set hash = hash || 'x'
    where height = (select max(height) from explorer.blocks where optimism_batch_number = 3)`);
  expect(await edited()).toEqual([{ batch_number: 2 }, { batch_number: 3 }]);

  await query('select etl.prune_edits()');
  expect(await edited()).toEqual([{ batch_number: 2 }]);
  expect(await contradicted()).toEqual([]);

  await query('update explorer.blocks set is_pending_update = false where is_pending_update');
  await query('select etl.prune_edits()');
  expect(await edited()).toEqual([]);
});
