import { expect } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { contradictedFindings } from '../../harness/findings.ts';
import { chainOf, edits, laned, operations } from './batch-edits.ts';

/** A copy of batches 1 to 3, of which the highest waits for the next one. */
export async function copied() {
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

export const found = `
  select feed, is_open, kind, unit, sentence, command, count::float8,
         from_position::float8, to_position::float8
  from explorer.findings`;

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

/** Edits of batches, by what they make of one. */
export const every = Object.entries({ ...edits, ...others });

/** After an edit `verify` reports what the view has, and no view contradicts that. */
export async function expectReported(edit: string) {
  const { db, query, contradicted } = await copied();
  await query(edit);

  const rows = await query(found);
  expect(rows.filter(({ is_open }) => is_open)).not.toEqual([]);
  expect(new Set(await reported(db))).toEqual(new Set(rows));
  expect(await contradicted()).toEqual([]);
}
