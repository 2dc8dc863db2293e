import type { Pool, PoolClient } from 'pg';
import { changeLayout, countRows, demandSame, layoutOf, type LargeTable } from './layout.ts';
import { MigrationError } from './migrate.ts';
import { becomePartitioned } from './partition-parent.ts';

/** What partitioning a table came to: `already` is one where nothing was left to do. */
export interface Partitioned {
  readonly outcome: 'done' | 'already';
  readonly partitions: readonly string[];
}

/** A table, and its partition for chains that have none of their own. */
interface Split {
  readonly name: string;
  readonly rest: string;
}

/** More steps than chains mean that rows of new chains come faster than they are moved. */
const mostSteps = 1_000;

/**
 * Partitions a table by chain: one for each chain that it holds or that has feeds, and one for the rest.
 * Rows of a chain that is new go to the rest, because whoever copies may make no tables; the next time
 * that this runs it moves them. In steps of a transaction each: killed at any moment, it goes on where it
 * stopped.
 *
 * The table becomes the partition for the rest as it is, in an instant. Then chains are moved out of it,
 * the smallest first; the last one has no need to move: the rest becomes its partition. While rows move,
 * the table can be read, and whoever writes waits.
 *
 * @param tell called after each step
 * @throws MigrationError where Citus has spread the table, or something hangs on it that would be lost
 */
export async function partition(
  pool: Pool,
  table: LargeTable,
  tell: (step: string) => void,
): Promise<Partitioned> {
  const { name } = table;
  const layout = await layoutOf(pool, table);
  if (layout === 'distributed') {
    throw new MigrationError(
      `${name} is spread over servers by Citus: this program spreads a table or partitions it, not both.`,
    );
  }
  const split: Split = { name, rest: `${name}_default` };
  let steps = 0;
  const took = (step: string) => {
    steps += 1;
    tell(step);
    if (steps > mostSteps) throw new Error(`${name} is not partitioned after ${steps} steps`);
  };
  if (layout === 'plain') {
    await changeLayout(pool, table, 'access exclusive', (session) =>
      becomePartitioned(session, split),
    );
    took(`${name} is partitioned; its rows are in ${split.rest}`);
  }
  for (;;) {
    const chains = await chainsWithin(pool, split.rest);
    const [smallest, other] = chains;
    if (smallest === undefined) break;
    const step =
      other === undefined
        ? await giveRest(pool, split, smallest)
        : await moveOut(pool, split, smallest);
    if (step !== null) took(step);
  }
  for (const chain of await chainsWithout(pool, name)) {
    const step = await makeEmpty(pool, split, chain);
    if (step !== null) took(step);
  }
  return { outcome: steps > 0 ? 'done' : 'already', partitions: await partitionsOf(pool, name) };
}

/** The chains of rows that are in no partition of their chain's own, the smallest first. */
async function chainsWithin(pool: Pool, rest: string): Promise<string[]> {
  const { rows } = await pool.query<{ chain_id: string }>(
    `select chain_id from ${rest} group by chain_id order by count(*), chain_id`,
  );
  return rows.map(({ chain_id }) => chain_id);
}

/** What is left is of one chain: the rest is its partition from now on, and another one the rest. */
async function giveRest(pool: Pool, { name, rest }: Split, chain: string): Promise<string | null> {
  const own = `${name}_${chain}`;
  return changeLayout(pool, { name }, 'access exclusive', async (session) => {
    if (await holds(session, `${rest} where chain_id <> $1`, chain)) return null;
    await session.query(`alter table ${name} detach partition ${rest}`);
    await renameAs(session, rest, own, `_${chain}`);
    await session.query(`alter table ${name} attach partition ${own} for values in (${chain})`);
    await session.query(`create table ${rest} partition of ${name} default`);
    await finish(session, name, own, commentOf(name, chain));
    await finish(session, name, rest, commentOf(name, null));
    return `${own}: all that ${rest} held`;
  });
}

async function moveOut(pool: Pool, { name, rest }: Split, chain: string): Promise<string> {
  const own = `${name}_${chain}`;
  return changeLayout(pool, { name }, 'exclusive', async (session) => {
    const before = await countRows(session, `${rest} where chain_id = $1`, [chain]);
    // Its indexes are made when it is attached: faster than row by row.
    await session.query(
      `create table ${own} (like ${rest} including defaults including constraints including storage including compression)`,
    );
    await session.query(
      `with moved as (delete from ${rest} where chain_id = $1 returning *)
       insert into ${own} select * from moved`,
      [chain],
    );
    demandSame(own, before, await countRows(session, own));
    await session.query(`alter table ${name} attach partition ${own} for values in (${chain})`);
    await finish(session, name, own, commentOf(name, chain));
    return `${own}: ${before} rows`;
  });
}

/** A chain that is to be copied has its partition before its first row; null where one has come. */
async function makeEmpty(pool: Pool, { name, rest }: Split, chain: string): Promise<string | null> {
  const own = `${name}_${chain}`;
  return changeLayout(pool, { name }, 'access exclusive', async (session) => {
    if (await holds(session, `${rest} where chain_id = $1`, chain)) return null;
    await session.query(`create table ${own} partition of ${name} for values in (${chain})`);
    await finish(session, name, own, commentOf(name, chain));
    return `${own}: empty`;
  });
}

/** Chains that have feeds, and no partition. */
async function chainsWithout(pool: Pool, name: string): Promise<string[]> {
  const { rows } = await pool.query<{ chain_id: string }>(
    `select distinct chain_id
     from etl.feeds
     where not exists (
       select from pg_inherits join pg_class on pg_class.oid = inhrelid
       where inhparent = $1::regclass
         and pg_get_expr(relpartbound, pg_class.oid) ~ format('\\m%s\\M', chain_id)
     )
     order by 1`,
    [name],
  );
  return rows.map(({ chain_id }) => chain_id);
}

/** The names of a table's partitions. */
async function partitionsOf(pool: Pool, name: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%s', inhrelid::regclass) as name
     from pg_inherits where inhparent = $1::regclass order by 1`,
    [name],
  );
  return rows.map((row) => row.name);
}

async function holds(session: PoolClient, from: string, chain: string): Promise<boolean> {
  const { rows } = await session.query(`select from ${from} limit 1`, [chain]);
  return rows.length > 0;
}

/** Names of indexes say whose they are: that of the rest goes with it. */
async function renameAs(
  session: PoolClient,
  from: string,
  to: string,
  suffix: string,
): Promise<void> {
  const { rows } = await session.query<{ statement: string }>(
    `select format('alter index %s rename to %I', indexrelid::regclass,
              replace(relname, '_default', $2)) as statement
     from pg_index join pg_class on pg_class.oid = indexrelid
     where indrelid = $1::regclass`,
    [from, suffix],
  );
  for (const { statement } of rows) await session.query(statement);
  await session.query(`alter table ${from} rename to ${to.slice(to.indexOf('.') + 1)}`);
}

const commentOf = (name: string, chain: string | null) =>
  `Partition of ${name}: rows of ${chain === null ? 'chains that have none of their own' : `chain ${chain}`}.`;

/** A partition belongs to whom the table belongs to, is kept as the others are, and says what it is. */
async function finish(
  session: PoolClient,
  name: string,
  own: string,
  comment: string,
): Promise<void> {
  await session.query(`comment on table ${own} is '${comment}'`);
  const { rows } = await session.query<{ statement: string }>(
    `select format('alter table ${own} owner to %I', parent.relowner::regrole) as statement
     from pg_class as parent, pg_class as part
     where parent.oid = $1::regclass and part.oid = $2::regclass and parent.relowner <> part.relowner
     union all
     (
       -- The table itself can't have them.
       select format('alter table ${own} set (%s)', array_to_string(reloptions, ', '))
       from pg_inherits join pg_class on oid = inhrelid
       where inhparent = $1::regclass and oid <> $2::regclass and reloptions is not null
       limit 1
     )`,
    [name, own],
  );
  for (const { statement } of rows) await session.query(statement);
}
