import fc from 'fast-check';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../harness/database.ts';
import { hashOf, keepLists, type KeptOperation } from '../../harness/kept.ts';
import { plainChain, runSync } from '../../harness/sync.ts';

/** Long enough for several walks, in pages of three. */
const pageSize = 3;
const blocks = 240;
/** One walk waits for each answer, so several are called for. */
const latencyMs = 40;
const parallel = 6;
/** How often a list's history is stopped, cut off, or moved while it is read. */
const mostEvents = 12;

type EventKind = 'stop' | 'cut' | 'late' | 'removed';

interface Story {
  /** How many operations each block holds. */
  readonly ties: readonly number[];
  /** What happens at which request. */
  readonly events: readonly {
    readonly at: number;
    readonly what: EventKind;
    readonly block: number;
  }[];
}

const stories: fc.Arbitrary<Story> = fc.record({
  // Blocks without any, with one, and with more than a page holds.
  ties: fc.array(fc.constantFrom(0, 1, 1, 2, 5, 7), { minLength: blocks, maxLength: blocks }),
  events: fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 200 }),
      what: fc.constantFrom<EventKind>('stop', 'cut', 'late', 'removed'),
      block: fc.integer({ min: 1, max: blocks }),
    }),
    { maxLength: mostEvents },
  ),
});

const listOf = (ties: readonly number[]): KeptOperation[] =>
  ties.flatMap((count, block) =>
    Array.from({ length: count }, (_, place) => ({ block: block + 1, id: block * 10 + place + 1 })),
  );

test('all items in the verified ranges of parallel walks are stored, whatever happens at their boundaries', async () => {
  let boundaries = 0;
  await fc.assert(
    fc.asyncProperty(stories, async ({ ties, events }) => {
      const list = await keepLists({ operations: listOf(ties) });
      list.latencyMs = latencyMs;
      // What moved may be there or not.
      const moved = new Set<string>();
      const left = [...events].sort((a, b) => a.at - b.at);
      const database = await createTestDatabase();
      let requests = 0;
      let stop = new AbortController();
      list.onRequest = () => {
        requests += 1;
        while (left[0] !== undefined && left[0].at <= requests) {
          const { what, block } = left.shift() ?? { what: 'stop', block: 0 };
          if (what === 'stop') stop.abort(new Error('stopped'));
          else if (what === 'cut') void cutOff(database.pool);
          else if (what === 'late') {
            const id = 100_000 + requests;
            moved.add(hashOf(id));
            list.operations.push({ block, id });
          } else {
            const gone = list.operations.find((operation) => operation.block === block);
            if (gone === undefined) continue;
            moved.add(hashOf(gone.id));
            list.operations = list.operations.filter(({ id }) => id !== gone.id);
          }
        }
        return null;
      };
      const listed = () => list.operations.filter(({ id }) => !moved.has(hashOf(id)));
      try {
        // Each try ends at one event at most, or with a run that is closed.
        for (let tries = 0; tries <= events.length; tries += 1) {
          stop = new AbortController();
          await runSync(database, {
            url: list.url,
            chains: [plainChain],
            operations: ['user-operations'],
            pageSize,
            parallel,
            signal: stop.signal,
          }).catch(() => undefined);
          expect(await missing(database.pool, listed())).toEqual([]);
        }
        const rows = await database.query(`
          select (select count(*)::int from explorer.gaps) as gaps,
                 (select count(*)::int from etl.walks where scope ? 'remainder_of' and pages > 1) as boundaries,
                 (select count(*)::int from etl.walks where reason = 'misplaced-entry') as failed
        `);
        boundaries += rows[0]?.boundaries ?? 0;
        expect(rows[0]).toMatchObject({ gaps: 0, failed: 0 });
      } finally {
        await database.drop();
      }
    }),
    { numRuns: 4 },
  );
  // Else nothing was tried.
  expect(boundaries).toBeGreaterThan(0);
});

/** Ends every connection of the program in the middle of what it does. */
const cutOff = (pool: Pool) =>
  pool
    .query(
      `
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`,
    )
    .catch(() => undefined);

/** What is listed within verified ranges and not stored. */
async function missing(pool: Pool, listed: readonly KeptOperation[]): Promise<string[]> {
  const { rows } = await pool.query<{ hash: string }>(
    `select hash
     from json_to_recordset($1) as listed(block bigint, hash text)
     where exists (
       select from explorer.coverage where listed.block between from_block and to_block
     )
     and not exists (
       select from explorer.user_operations as stored
       where stored.hash = listed.hash and removed_at is null
     )`,
    [JSON.stringify(listed.map(({ block, id }) => ({ block, hash: hashOf(id) })))],
  );
  return rows.map(({ hash }) => hash);
}
