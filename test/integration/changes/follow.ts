import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { drawsOf, type Random } from '../../../simulator/random.ts';
import { publishChanges } from '../../../src/db/changes.ts';
import { transact } from '../../../src/db/transaction.ts';
import type { OperationName } from '../../../src/lists/registry.ts';
import { databaseAt, freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, loadIn, type ServedPage } from '../load/loader.ts';

/** A table of schema explorer that readers follow, and how its rows point to their parent. */
interface Followed {
  readonly name: string;
  readonly key: string;
  readonly columns: string;
  readonly parent: string | null;
  /** The parent's key, and the columns of the child that hold it. */
  readonly parent_key: string | null;
  readonly child_key: string | null;
}

const namesOf = (relation: string, columns: string) => `
  (select string_agg(quote_ident(attname), ', ' order by place)
   from unnest(${columns}) with ordinality as part(number, place)
   join pg_attribute on attrelid = ${relation} and attnum = number)`;

const followedTables = `
  select t.relname as name, ${namesOf('t.oid', 'own.conkey')} as key,
         (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
          where attrelid = t.oid and attnum > 0 and not attisdropped) as columns,
         parent.relname as parent,
         ${namesOf('link.confrelid', 'link.confkey')} as parent_key,
         ${namesOf('t.oid', 'link.conkey')} as child_key
  from pg_class as t
  join pg_constraint as own on own.conrelid = t.oid and own.contype = 'p'
  left join pg_constraint as link
    on link.conrelid = t.oid and link.contype = 'f' and link.confdeltype = 'c'
  left join pg_class as parent on parent.oid = link.confrelid
  where t.relnamespace = 'explorer'::regnamespace and t.relkind = 'r' and t.relname <> 'chains'
  order by t.relname`;

/**
 * A reader of changes as docs/follow-changes.md describes one, whose copy is schema `copy`: it reads from its last
 * bound up to the next one, and removes the children that a changed parent has no longer.
 */
async function openFollower(pool: Pool) {
  const { rows: tables } = await pool.query<Followed>(followedTables);
  await pool.query(`create schema copy; create table copy.last (until timestamptz);
    insert into copy.last values ('-infinity')`);
  for (const { name } of tables) {
    await pool.query(`create table copy.${name} (like explorer.${name} including indexes)`);
  }
  const read = ({ name, key, columns, parent, parent_key, child_key }: Followed) => `
    delete from copy.${name} where (${key}) in (
      select ${key} from explorer.${name} where updated_at >= $since and updated_at < $until
    );
    insert into copy.${name} (${columns})
    select ${columns} from explorer.${name} where updated_at >= $since and updated_at < $until;
    ${
      parent === null
        ? ''
        : `delete from copy.${name} where (${child_key}) in (
             select ${parent_key} from explorer.${parent}
             where updated_at >= $since and updated_at < $until
           ) and (${key}) not in (select ${key} from explorer.${name});`
    }`;
  const step = `do $do$
    declare
      since timestamptz := (select until from copy.last);
      bound timestamptz := explorer.changes_until();
    begin
      ${tables.map(read).join('\n').replaceAll('$since', 'since').replaceAll('$until', 'bound')}
      update copy.last set until = bound;
    end $do$`;
  return {
    /** In statements that see what is committed meanwhile, or in one snapshot. */
    read: (isolation: 'read committed' | 'repeatable read') =>
      pool.query(`begin isolation level ${isolation}; ${step}; commit`),
    /** How many rows differ between the copy and its source, by table. */
    async differing(): Promise<Readonly<Record<string, number>>> {
      const counts: Record<string, number> = {};
      for (const { name, columns } of tables) {
        const [here, there] = [`explorer.${name}`, `copy.${name}`];
        const { rows } = await pool.query<{ n: number }>(`
          select count(*)::int as n from (
            (select ${columns.replace('meta', 'meta::text')} from ${here} except select ${columns.replace('meta', 'meta::text')} from ${there})
            union all
            (select ${columns.replace('meta', 'meta::text')} from ${there} except select ${columns.replace('meta', 'meta::text')} from ${here})
          ) as row`);
        if (rows[0]?.n !== 0) counts[name] = rows[0]?.n ?? -1;
      }
      return counts;
    },
  };
}

/** A page of operations: some have been read before, and some have a sender that is read beside. */
const operations = (random: Random, lane: number, page_id: number, size: number): ServedPage => ({
  page_id,
  items: Array.from({ length: size }, (_, place) => ({
    hash: hashOf(
      random.below(8) === 0 ? random.below(size) + 1 : (lane * 1_000_000 + page_id) * 1_000 + place,
    ),
    status: random.below(2) === 0,
    address: {
      hash: addressOf(random.below(40) + 1),
      name: `name ${random.below(3)}`,
      is_verified: true,
      implementations: Array.from({ length: random.below(3) }, () => ({
        address_hash: addressOf(random.below(5) + 1),
      })),
    },
  })),
});

/** A page of blocks that the chain replaces again and again, with other rewards and uncles. */
const blocks = (random: Random, _lane: number, page_id: number, size: number): ServedPage => ({
  page_id,
  items: Array.from({ length: size }, (_, place) => ({
    hash: hashOf(page_id * 1_000 + place),
    height: place + 1,
    rewards: Array.from({ length: random.below(3) }, () => ({ reward: String(random.below(9)) })),
    uncles_hashes: Array.from({ length: random.below(3) }, () => ({
      hash: hashOf(random.below(9)),
    })),
  })),
});

/** Of every so many transactions one is killed before it commits, and made again. */
const oneKilledOf = 8;

interface Following {
  readonly seed: number;
  /** How many operations the lanes bring, about. */
  readonly rows: number;
}

/** Follows three lanes of a chain that write at once; how many rows the reader has otherwise in the end. */
export async function follow({ seed, rows }: Following) {
  const { url, pool } = await freshDatabase();
  const { pool: writers } = databaseAt(url, 6);
  const db = drizzle(writers);
  const draw = drawsOf(seed);
  const follower = await openFollower(pool);
  const pageSize = 25;
  let pageId = 0;
  const done = new AbortController();
  let readings = 0;
  const lane = async (number: number, chain: number, name: OperationName, transactions: number) => {
    const page = name === 'user-operations' ? operations : blocks;
    for (let turn = 0; turn < transactions; turn += 1) {
      const random = draw(`lane ${number}`, turn);
      const served = [1, 2, 3, 4].map(() => page(random, number, (pageId += 1), pageSize));
      let isKilled = random.below(oneKilledOf) === 0;
      const heldMs = random.below(12);
      const bring = () =>
        transact(db, async (tx) => {
          await loadIn(tx, name, served, chain);
          await tx.execute(`select pg_sleep(${heldMs / 1000})`);
          if (isKilled) await tx.execute('select pg_terminate_backend(pg_backend_pid())');
        });
      if (isKilled) await bring().catch(() => (isKilled = false));
      await bring();
    }
  };
  const each = Math.ceil(rows / (2 * 4 * pageSize));
  const publisher = async () => {
    while (!done.signal.aborted) await publishChanges(db, 'announced');
  };
  const reader = async () => {
    for (; !done.signal.aborted; readings += 1) {
      const random = draw('reader', readings);
      await pool.query(`select pg_sleep(${random.below(30) / 1000})`);
      await follower.read(random.below(2) === 0 ? 'read committed' : 'repeatable read');
    }
  };
  const lanes = Promise.all([
    lane(1, 10, 'user-operations', each),
    lane(2, 10, 'user-operations', each),
    lane(3, 10, 'optimism-batch-blocks', Math.ceil(each / 2)),
  ]).finally(() => done.abort());
  await Promise.all([lanes, publisher(), reader()]);
  await publishChanges(db, 'announced');
  await follower.read('read committed');
  const { rows: all } = await pool.query<{ n: number; reorgs: number }>(
    `select (select count(*)::int from explorer.user_operations) as n,
            (select count(*)::int from explorer.block_reorgs) as reorgs`,
  );
  return {
    lost: await follower.differing(),
    readings,
    operations: all[0]?.n ?? 0,
    reorgs: all[0]?.reorgs ?? 0,
  };
}
