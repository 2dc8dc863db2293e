import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { truthAt } from '../harness/truth/truth.ts';

type Row = Record<string, unknown>;
type History = Record<string, number[]>;

/**
 * What an observer knows of the factories who reads the ranking now and then, of a list that stands
 * still meanwhile. Between two readings a count moves, and a factory may leave, unseen.
 */
export class RankingModel {
  readonly #seed: number;
  readonly #chain: SimulatedChain;
  /** Of each factory, the counts that rankings saw, each once until it changed. */
  readonly #counts = new Map<string, number[]>();

  constructor(seed: number, chain: SimulatedChain) {
    this.#seed = seed;
    this.#chain = chain;
  }

  /** A ranking at a simulated time. */
  take(atMs: number): void {
    for (const row of this.#rows(atMs)) {
      if (row['rank'] === null) continue;
      const address = String(row['address_hash']);
      const counts = this.#counts.get(address) ?? [];
      if (counts.at(-1) !== row['total_accounts']) counts.push(Number(row['total_accounts']));
      this.#counts.set(address, counts);
    }
  }

  /** The table, at the time of the last ranking: whoever is missing keeps the count last seen. */
  factories(atMs: number): Row[] {
    return this.#rows(atMs)
      .filter((row) => this.#counts.has(String(row['address_hash'])))
      .map((row) => ({
        ...row,
        total_accounts: this.#counts.get(String(row['address_hash']))?.at(-1),
      }));
  }

  /** The counts of each factory in the order in which they were seen. */
  history(): History {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The same as a database has it. */
  async storedHistory(pool: Pool): Promise<History> {
    const { rows } = await pool.query<{ address_hash: string; counts: number[] }>(
      `select address_hash, json_agg(total_accounts order by observed_at) as counts
       from explorer.factory_history where chain_id = $1 group by 1 order by 1`,
      [this.#chain.id],
    );
    return Object.fromEntries(rows.map(({ address_hash, counts }) => [address_hash, counts]));
  }

  #rows(atMs: number): Row[] {
    return truthAt(this.#seed, this.#chain, { operations: ['factories'] }, atMs).factories;
  }
}
