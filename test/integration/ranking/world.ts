import type { Motion, SimulatedChain } from '../../../simulator/index.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { openCopy, type SyncRun, plainChain } from '../../harness/sync.ts';
import { truthAt } from '../../truth/truth.ts';
import { inWords } from '../../harness/ledger.ts';

const seed = 17;
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** A factory as it is stored, or as one who never blinked would store it. */
export interface RankedFactory {
  readonly address_hash: string;
  readonly rank: number | null;
  /** Null where it is missing: when it was last read is the reader's own. */
  readonly total_accounts: number | null;
  readonly is_missing: boolean;
}

/** A simulated list of factories whose clock the test drives, and a database to copy it into. */
export async function rankingWorld(motion: Partial<Motion> = {}, factories = 210) {
  const chain: SimulatedChain = {
    ...plainChain,
    userOperations: 60,
    factories,
    motion: { operationsPerMinute: 20, ...motion },
  };
  const service = { isEmpty: false };
  const emptyPage = { status: 200, body: { items: [], next_page_params: null } };
  let requests = 0;
  let onRequest = (_request: number): void => undefined;
  const copy = await openCopy(chain, {
    seed,
    faults: () => (service.isEmpty ? emptyPage : null),
    onRequest: () => onRequest((requests += 1)),
  });
  const { clock, database, query } = copy;
  return {
    clock,
    /** Whether it lists emptyPage for now. */
    service,
    query,
    db: copy.db,
    url: database.url,
    /** A sync; `each` gets the number of each of its requests, from 1, before the answer leaves. */
    async sync(
      run: Pick<SyncRun, 'maxPages' | 'pageSize' | 'signal'> = {},
      each = (_request: number): void => undefined,
    ) {
      requests = 0;
      onRequest = each;
      return copy.syncAt(clock.nowMs, { operations: ['factories'], ...run });
    },
    /** What one who never blinked would have stored by now. */
    expected(): RankedFactory[] {
      return truthAt(seed, chain, { operations: ['factories'] }, clock.nowMs)
        .factories.map((row) => ({
          address_hash: String(row['address_hash']),
          rank: row['rank'] as number | null,
          total_accounts: row['rank'] === null ? null : Number(row['total_accounts']),
          is_missing: row['missing_since'] !== null,
        }))
        .sort((a, b) => (a.address_hash < b.address_hash ? -1 : 1));
    },
    stored: (): Promise<RankedFactory[]> =>
      query(`
        select address_hash, rank::int, missing_since is not null as is_missing,
               case when rank is not null then total_accounts::int end as total_accounts
        from explorer.factories order by address_hash`),
    /** How the walks of the newest run ended. */
    walks: () =>
      query(`
        select state, reason from etl.walks
        where run_id = (select max(id) from etl.runs) order by id`),
    count: async (table: string): Promise<number> =>
      (await query(`select count(*)::int from ${table}`))[0].count,
    async report() {
      const [feed] = await verifyFeeds(copy.db);
      // The simulator's factories have fields that the specification does not name.
      return (
        feed &&
        inWords({ ...feed, notes: feed.notes.filter(({ kind }) => kind !== 'schema-drift') })
      );
    },
  };
}
