import { drizzle } from 'drizzle-orm/node-postgres';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/db/transaction.ts';
import { optimismBatchBlocks } from '../../../src/operations/optimism-batch-blocks/index.ts';
import { freshDatabase } from '../../support/database.ts';

/** Small enough that batches meet, overlap and lose blocks to each other all the time. */
const numbers = 7;
const heights = 14;

interface Block {
  readonly height: number;
  readonly edition: number;
  readonly parentEdition: number;
  readonly isPending: boolean;
  readonly batch: number | null;
}

/** The end of a walk: what batch it read, how far down, and what it was served. */
interface Walk {
  readonly batch: number;
  readonly isProbe: boolean;
  readonly readDownTo: number;
  readonly served: readonly Omit<Block, 'batch'>[];
}

interface Asked {
  readonly low: number;
  /** Excluded; null where all to come were asked for. */
  readonly end: number | null;
}

/** What the tables hold, as one who sees everything at once says it. */
class Model {
  readonly blocks = new Map<number, Block>();
  readonly rows = new Set<number>();
  readonly asked: readonly Asked[];

  constructor(asked: readonly Asked[]) {
    this.asked = asked;
  }

  apply({ batch, isProbe, readDownTo, served }: Walk): void {
    const isServed = new Set(served.map(({ height }) => height));
    for (const block of served) this.blocks.set(block.height, { ...block, batch });
    for (const block of this.blocks.values()) {
      if (block.batch !== batch || block.height < readDownTo || isServed.has(block.height))
        continue;
      this.blocks.set(block.height, { ...block, batch: null });
    }
    if (!isProbe || this.membersOf(batch).length > 0) this.rows.add(batch);
    for (const number of this.allNumbers()) {
      if (this.membersOf(number).length === 0 && this.isBetweenMeeting(number))
        this.rows.add(number);
    }
  }

  /** State of each batch that has a row. */
  states(): Record<number, string> {
    const told = [...this.rows]
      .toSorted((a, b) => a - b)
      .map((number) => {
        if (this.membersOf(number).length > 0) {
          return [number, this.isSettled(number) ? 'settled' : 'open'] as const;
        }
        return [number, this.isProvedHole(number) ? 'empty, proved' : 'empty'] as const;
      });
    return Object.fromEntries(told);
  }

  private allNumbers = () => Array.from({ length: numbers }, (_, place) => place + 1);

  private membersOf = (batch: number) =>
    [...this.blocks.values()]
      .filter((block) => block.batch === batch)
      .toSorted((a, b) => a.height - b.height);

  private askedAround = (number: number) =>
    this.asked.find(({ low, end }) => number >= low && (end === null || number < end));

  private fullBelow = (number: number) =>
    this.allNumbers().findLast((other) => other < number && this.membersOf(other).length > 0);

  private fullAbove = (number: number) =>
    this.allNumbers().find((other) => other > number && this.membersOf(other).length > 0);

  private meet(lower: number | undefined, upper: number | undefined): boolean {
    if (lower === undefined || upper === undefined) return false;
    const [top, bottom] = [this.membersOf(lower).at(-1), this.membersOf(upper)[0]];
    return top !== undefined && bottom !== undefined && standsOn(bottom, top);
  }

  private isSettled(number: number): boolean {
    const members = this.membersOf(number);
    const isChain = members.every((block, place) => {
      const below = members[place - 1];
      return below === undefined || standsOn(block, below);
    });
    return (
      isChain &&
      members.every(({ isPending }) => !isPending) &&
      this.meet(number, this.fullAbove(number)) &&
      this.meetsBelow(number)
    );
  }

  private meetsBelow(number: number): boolean {
    const floor = this.askedAround(number)?.low ?? number;
    const below = this.fullBelow(number);
    if (below !== undefined && below >= floor) return this.meet(below, number);
    return this.allNumbers().every(
      (other) => other < floor || other >= number || this.rows.has(other),
    );
  }

  private isBetweenMeeting(number: number): boolean {
    const around = this.askedAround(number);
    const below = this.fullBelow(number);
    return (
      around !== undefined &&
      below !== undefined &&
      below >= around.low &&
      this.meet(below, this.fullAbove(number))
    );
  }

  private isProvedHole(number: number): boolean {
    const around = this.askedAround(number);
    if (around === undefined) return false;
    const [below, above] = [this.fullBelow(number), this.fullAbove(number)];
    if (below !== undefined && below >= around.low) return this.isBetweenMeeting(number);
    const isInside = above !== undefined && (around.end === null || above < around.end);
    return isInside && this.isSettled(above);
  }
}

const standsOn = (block: Block, below: Block) =>
  block.height === below.height + 1 && block.parentEdition === below.edition;

const hashOf = (height: number, edition: number) =>
  `0x${(height * 10 + edition).toString(16).padStart(64, '0')}`;

const rarely = fc.nat(9).map((drawn) => (drawn === 0 ? 1 : 0));

/** Mostly a run of heights about where the batch belongs, mostly linked. */
const walkOf = fc
  .record({
    batch: fc.integer({ min: 1, max: numbers }),
    isProbe: fc.boolean(),
    shift: fc.constantFrom(0, 0, 0, 0, -1, 1),
    length: fc.constantFrom(0, 1, 2, 2, 2, 2, 3),
    isPartial: fc.constantFrom(false, false, false, true),
    drawn: fc.array(fc.record({ edition: rarely, parentEdition: rarely, pending: rarely }), {
      minLength: 3,
      maxLength: 3,
    }),
  })
  .map(({ batch, isProbe, shift, length, isPartial, drawn }): Walk => {
    const first = (batch - 1) * 2 + shift;
    const served = drawn.slice(0, length).flatMap(({ pending, ...block }, place) => {
      const height = first + place;
      return height < 0 || height > heights ? [] : [{ ...block, height, isPending: pending === 1 }];
    });
    return { batch, isProbe, served, readDownTo: isPartial ? (served[0]?.height ?? 0) : 0 };
  });

const askedRanges = fc.constantFrom<readonly Asked[]>(
  [{ low: 1, end: null }],
  [{ low: 3, end: null }],
  [{ low: 1, end: 5 }],
  [
    { low: 1, end: 3 },
    { low: 4, end: null },
  ],
);

/** Writes what a walk was served, and ends it as the walk does. */
async function endWalk(db: Database, chain_id: number, page_id: number, walk: Walk): Promise<void> {
  const { batch, isProbe, readDownTo, served } = walk;
  const rows = served.map(({ height, edition, parentEdition, isPending }) => ({
    chain_id,
    height,
    hash: hashOf(height, edition),
    parent_hash: hashOf(height - 1, parentEdition),
    is_pending_update: isPending,
    optimism_batch_number: batch,
    page_id,
  }));
  const spelled = `{${served.map(({ height }) => `[${height},${height}]`).join(',')}}`;
  const scope = { batch, ...(isProbe && { probe: true }) };
  await db.transaction(async (tx) => {
    const told = await tx.execute<{ id: string }>(
      `insert into etl.walks (chain_id, operation, lane, tick_id, kind, scope, state)
       values (${chain_id}, 'optimism-batch-blocks', 'backfill', 1, 'batch', '${JSON.stringify(scope)}', 'finished')
       returning id`,
    );
    const walk_id = Number(told.rows[0]?.id);
    await tx.execute(
      `insert into etl.pages (id, walk_id, sequence, items, rows, repeats, quarantined, inserted, changed,
                              heights, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
       values (${page_id}, ${walk_id}, 0, 0, 0, 0, 0, 0, 0, '${spelled}', 0, '', 1, 0, 20, now())`,
    );
    await tx.execute(
      `insert into explorer.blocks as t (chain_id, height, hash, parent_hash, is_pending_update, optimism_batch_number, page_id)
       select chain_id, height, hash, parent_hash, is_pending_update, optimism_batch_number, page_id
       from json_populate_recordset(null::explorer.blocks, '${JSON.stringify(rows)}')
       on conflict (chain_id, height) do update
       set hash = excluded.hash, parent_hash = excluded.parent_hash, page_id = excluded.page_id,
           is_pending_update = excluded.is_pending_update,
           optimism_batch_number = excluded.optimism_batch_number`,
    );
    await optimismBatchBlocks.afterWalk?.(tx, {
      walk_id,
      tick_id: 1,
      chain_id,
      started_at: new Date(0).toISOString(),
      scope,
      floor: null,
      page_id,
      isConclusive: true,
      inserted: 0,
      above: null,
      readDownTo,
    });
  });
}

test('after any walks, what is settled and proved is what a plain model says', async () => {
  const { pool } = await freshDatabase();
  const db = drizzle(pool);
  let chains = 0;
  let pages = 0;
  const settledSeen = { count: 0 };

  await fc.assert(
    fc.asyncProperty(
      askedRanges,
      fc.array(walkOf, { minLength: 1, maxLength: 14 }),
      async (asked, walks) => {
        const chain_id = (chains += 1);
        const spelled = `{${asked.map(({ low, end }) => `[${low},${end ?? ''})`).join(',')}}`;
        await pool.query(
          `insert into etl.feeds (chain_id, operation, settings, asked)
           values ($1, 'optimism-batch-blocks', '{}', $2)`,
          [chain_id, spelled],
        );
        const model = new Model(asked);
        for (const walk of walks) {
          await endWalk(db, chain_id, (pages += 1), walk);
          model.apply(walk);
          const { rows } = await pool.query<{ batch: number; is: string }>(
            `select batch_number::int as batch,
                    state || case when blocks_count = 0 and is_proved then ', proved' else '' end as is
             from explorer.optimism_batches where chain_id = $1`,
            [chain_id],
          );
          expect(Object.fromEntries(rows.map(({ batch, is }) => [batch, is]))).toEqual(
            model.states(),
          );
          settledSeen.count += rows.filter(({ is }) => is === 'settled').length;
        }
      },
    ),
    { numRuns: 60 },
  );

  expect(settledSeen.count).toBeGreaterThan(20);
});
