import type { Database } from '../db/transaction.ts';
import type { VerifyDocument } from '../documents/verify.ts';
import { kinds } from '../lists/index.ts';
import type { RequestCount } from '../lists/list.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import type { ForecastOptions } from './estimate.ts';
import { registeredChains } from './lane-status.ts';
import { inOrder } from './order.ts';
import type { FeedProof } from './proof.ts';
import { isRepaired, repairCommand, withCommand } from './remedy.ts';
import { costsTogether, repairCosts } from './repairs.ts';

type Repair = VerifyDocument['repair'];

/** What `verify` says of proofs: each finding with the command that mends it, and what that costs. */
export async function verifyReport(
  db: Database,
  proofs: readonly FeedProof[],
  how: ForecastOptions,
): Promise<VerifyDocument> {
  const toRepair = proofs.filter((feed) => feed.open.some((what) => isRepaired(what, feed)));
  const costs = await costsOf(db, toRepair, how);
  const feeds = inOrder(proofs).map((feed) => {
    const repair = toRepair.includes(feed)
      ? withCost(repairCommand(feed), [costs.get(feed.feed) ?? unknown])
      : null;
    return {
      ...feed,
      unit: unitOf(feed),
      covered: [...feed.covered],
      head: [...feed.head],
      notes: [...feed.notes],
      state: feed.open.length === 0 ? ('complete' as const) : ('open' as const),
      open: feed.open.map((finding) => withCommand(finding, feed)),
      repair,
    };
  });
  const open = feeds.filter(({ state }) => state === 'open');
  return {
    schema: 'explorer-etl/verify/1',
    exit: open.length === 0 ? { code: 0, reason: 'done' } : { code: 1, reason: 'open' },
    at: how.at.toISOString(),
    counts: {
      feeds: feeds.length,
      complete: feeds.length - open.length,
      open: open.length,
      findings: sum(feeds.map((feed) => feed.open.length)),
      notes: sum(feeds.map((feed) => feed.notes.length)),
    },
    feeds,
    repair:
      toRepair.length === 0
        ? null
        : withCost(
            'explorer-etl repair',
            toRepair.map(({ feed }) => costs.get(feed) ?? unknown),
          ),
  };
}

/** Null: a newer version has registered it. */
const unitOf = ({ kind, unit }: FeedProof) =>
  Object.values(kinds)
    .find(({ name }) => name === kind)
    ?.covers(unit) ?? null;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

const unknown: RequestCount = { likely: null, requests: null };

/** Unknown where one of its parts is. */
function withCost(command: string, parts: readonly RequestCount[]): NonNullable<Repair> {
  const { likely, requests: most } = costsTogether(parts);
  const requests = likely === null ? null : Math.ceil(likely);
  return {
    command,
    requests,
    credits: requests === null ? null : requests * creditsPerPage,
    at_most: most === null ? null : Math.ceil(most),
  };
}

/** How many requests the repair of each feed takes. Nothing is reckoned where nothing is to be repaired. */
async function costsOf(
  db: Database,
  proofs: readonly FeedProof[],
  how: ForecastOptions,
): Promise<ReadonlyMap<string, RequestCount>> {
  if (proofs.length === 0) return new Map();
  const wanted = new Set(proofs.map(({ feed }) => feed));
  const ids = new Set(proofs.map(({ chain_id }) => chain_id));
  const chains = (await registeredChains(db)).filter(({ id }) => ids.has(id));
  return repairCosts(db, wanted, chains, how);
}
