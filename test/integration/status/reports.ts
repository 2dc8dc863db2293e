import type { SimulatedChain } from '../../../simulator/index.ts';
import { statusDocument, type StatusDocument } from '../../../src/status/schema.ts';
import { statusNow } from '../../../src/status/status.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';

export const seed = 6;

/** A database, an explorer that answers, and what `status` reports. */
export async function scene(changes: Partial<SimulatedChain> = {}, latencyMs = 0) {
  const copy = await openCopy({ ...shortChain, ...changes }, { seed, latencyMs });
  return { ...copy, ...reports(copy.database) };
}

export function reports({ pool }: Pick<TestDatabase, 'pool'>) {
  // The schema rejects what is not in it: each test checks the whole document.
  const status = async () => statusDocument.parse(await statusNow(pool, 50));
  const codes = async () => {
    const { overall, reasons } = await status();
    return [overall.state, ...reasons.map(({ code }) => code)];
  };
  return { status, codes };
}

/** The state of each feed. */
export const statesOf = ({ feeds }: StatusDocument) =>
  feeds.map(({ operation, state }) => [operation, state]);
