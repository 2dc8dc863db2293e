import type { Pool } from 'pg';

/** What each view calls complete, as ranges of a feed. */
const claims = `
  select feed, 'coverage' as view, int8range(from_block, to_block, '[]') as range
  from explorer.coverage where unit <> 'ranking'
  union all
  select feed, 'freshness.covered_to', int8range(covered_to, covered_to, '[]') from explorer.freshness
  where covered_to is not null
  union all
  select chain_id || '/optimism-batch-blocks', 'optimism_batches', int8range(batch_number, batch_number, '[]')
  from explorer.optimism_batches where state = 'settled' or is_verified`;

/** Open findings with a place that some view calls complete, or that no gap of a known list covers; planned once in a session. */
const disagreements = {
  name: 'disagreements',
  text: `
  with found as materialized (
    select feed, sentence, place, int8range(from_position, to_position, '[]') as range
    from explorer.findings where is_open and place is not null
  ), gaps as (
    select feed, range_agg(int8range(from_block, to_block, '[]')) as ranges
    from explorer.gaps where unit <> 'ranking' group by feed
  )
  select format('%s %s: %s, and %s has it as complete', feed, place, sentence, view) as what
  from found join (${claims}) as claim using (feed) where claim.range && found.range
  union
  select format('%s %s: %s, and gaps lacks it', feed, place, sentence)
  from found left join gaps using (feed)
  where (found.range <@ ranges) is not true
  order by what`,
};

/** Where views contradict the findings of `verify`, in words; none should. */
export async function contradictedFindings(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(disagreements);
  return rows.map(({ what }) => what);
}

/** The highest block of the batch that was verified last moves to the batch above. */
const movedBlock = `
  update explorer.blocks set optimism_batch_number = optimism_batch_number + 1
  where height = (
    select last_height from explorer.read_batches where is_verified and blocks_count > 0
    order by walked_at desc, batch_number limit 1
  )`;

/** The same while a block has moved, which is undone. */
export async function contradictedByMovedBlock(pool: Pool): Promise<string[]> {
  const session = await pool.connect();
  try {
    await session.query('begin');
    const { rowCount } = await session.query(movedBlock);
    if (rowCount === 0) return [];
    const { rows } = await session.query<{ what: string }>(disagreements);
    return rows.map(({ what }) => `a block moved: ${what}`);
  } finally {
    await session.query('rollback');
    session.release();
  }
}
