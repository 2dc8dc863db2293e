import { expect, test } from 'vitest';
import { questions, statementOf } from '../../../src/query/question.ts';
import { recountCoverage, verifyFeeds } from '../../../src/status/verify.ts';
import { contradictedFindings } from '../../harness/findings.ts';
import { chainOf, edits, laned, operations } from './batch-edits.ts';

/** A copy of batches 1 to 3, of which the highest waits for the next one. */
async function copied() {
  const batches = { first: 1, count: 3, blocks: 40 };
  const copy = await laned(chainOf(3, { batches }), 1);
  await copy.sync({ operations });
  const { pool } = copy.database;
  return { ...copy, pool, contradicted: () => contradictedFindings(pool) };
}

/** What `verify` reports of a copy, in the columns of the view. */
const reported = async (db: Awaited<ReturnType<typeof copied>>['db']) =>
  (await verifyFeeds(db)).flatMap(({ feed, open, notes }) =>
    [...open.map((one) => [true, one] as const), ...notes.map((one) => [false, one] as const)].map(
      ([is_open, { kind, place, sentence, command, count }]) => ({
        feed,
        is_open,
        kind,
        unit: place?.unit ?? null,
        sentence,
        command,
        count,
        from_position: place?.from ?? null,
        to_position: place?.to ?? null,
      }),
    ),
  );

const found = `
  select feed, is_open, kind, unit, sentence, command, count::float8,
         from_position::float8, to_position::float8
  from explorer.findings`;

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
    asked: (await pool.query(text, [...values])).rows,
    status: await query(
      `select (batches -> 'verified')::int as verified, (batches -> 'unverified')::int as unverified
       from etl.feed_extents`,
    ),
  });
  const whole = { found: [], gaps: [], covered: [{ from_block: 1, to_block: 2 }] };
  expect(await said()).toMatchObject({
    ...whole,
    settled: [{ batch_number: 1 }, { batch_number: 2 }],
    asked: [{ covered_to: '2', gaps: '0', missing: '0' }],
    status: [{ verified: 2, unverified: 0 }],
  });

  await query(edits['another batch']);

  expect(await said()).toMatchObject({
    found: [{ place: 'batch 2', kind: 'mismatch' }],
    covered: [{ from_block: 1, to_block: 1 }],
    gaps: [{ from_block: 2, to_block: 2 }],
    settled: [{ batch_number: 1 }],
    asked: [{ covered_to: '1', gaps: '1', missing: '1' }],
    status: [{ verified: 1, unverified: 1 }],
  });
});

/** Edits after which two rows, or a row and a list, contradict each other. */
const others = {
  'a block that was added': `
    insert into explorer.blocks (chain_id, height, hash, optimism_batch_number, page_id)
    select chain_id, -height, 'x' || hash, 2, page_id from explorer.blocks
    where optimism_batch_number = 2 limit 1`,
  'a batch that is called verified': `
    update explorer.read_batches set is_verified = false where batch_number = 2;
    select etl.recount_batches('%');
    delete from explorer.blocks where height = (
      select first_height from explorer.read_batches where batch_number = 2
    );
    update explorer.read_batches set is_verified = true where batch_number = 2`,
  'a batch that is listed with other blocks': `
    insert into explorer.listed_batches (
      chain_id, batch_number, l2_start_block_number, l2_end_block_number, page_id
    )
    select chain_id, batch_number, first_height, last_height + 1, page_id
    from explorer.read_batches where batch_number = 2`,
};

test.each(Object.entries({ ...edits, ...others }))(
  'verify reports the findings of %s as the view has them, and no view contradicts them',
  async (_, edit) => {
    const { db, query, contradicted } = await copied();
    await query(edit);

    const rows = await query(found);
    expect(rows.filter(({ is_open }) => is_open)).not.toEqual([]);
    expect(new Set(await reported(db))).toEqual(new Set(rows));
    expect(await contradicted()).toEqual([]);
  },
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
