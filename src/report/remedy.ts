import type { OpenFinding, ToldFinding } from '../documents/finding.ts';
import { operationNames } from '../operations/index.ts';
import type { FeedProof } from './proof.ts';

/** What mends a finding: the walks of `repair`, a search that `sync` makes, or a person who decides. */
type Remedy = 'repair' | 'sync' | 'quarantine list';

/**
 * The remedy of each kind of finding. What a feed's state is about is told by its reason; a run that goes well
 * ends it.
 */
const remedies: Readonly<Record<OpenFinding['kind'], Remedy>> = {
  gap: 'repair',
  unproved: 'repair',
  batches_not_read: 'repair',
  no_batch_found: 'sync',
  batches_empty_unproved: 'repair',
  batch_not_linked: 'repair',
  border_not_linked: 'repair',
  batch_awaits_update: 'repair',
  batch_without_parents: 'repair',
  batch_ends_early: 'repair',
  batch_never_read_whole: 'repair',
  batch_not_settled: 'repair',
  batches_not_settled: 'repair',
  batch_blocks_differ: 'repair',
  batch_range_differs: 'repair',
  batch_proved_not_linked: 'repair',
  batch_proved_awaits_update: 'repair',
  batch_list_differs: 'repair',
  batch_empty_but_listed: 'repair',
  damaged_rows: 'repair',
  damaged_ranking: 'repair',
  totals_differ: 'repair',
  quarantine: 'quarantine list',
  state: 'sync',
};

/** A finding with the command that mends it, or shows it. */
export const withCommand = (finding: OpenFinding, feed: FeedProof): ToldFinding => ({
  ...finding,
  command: commandFor(finding, feed),
});

/** Whether the walks of `repair` mend it. */
export const isRepaired = (finding: OpenFinding, feed: FeedProof): boolean =>
  isKnown(feed) && remedyOf(finding) === 'repair';

/** The command that mends what is open of a feed by walks. */
export const repairCommand = (feed: Pick<FeedProof, 'chain_id' | 'operation'>): string =>
  `explorer-etl repair ${flags(feed)}`;

function commandFor(finding: OpenFinding, feed: FeedProof): string | null {
  const remedy = remedyOf(finding);
  return remedy === null || !isKnown(feed) ? null : `explorer-etl ${remedy} ${flags(feed)}`;
}

/** Null: a newer version has found something that this one does not know. */
function remedyOf(finding: OpenFinding): Remedy | null {
  // Batches of which nothing is open and nothing proved: no walk is called for, one has to be found.
  if (finding.kind === 'unproved' && finding.lacks === 'proved_batch') return 'sync';
  return remedies[finding.kind] ?? null;
}

const flags = ({ chain_id, operation }: Pick<FeedProof, 'chain_id' | 'operation'>) =>
  `--chain ${chain_id} --operation ${operation}`;

/** Whether this version has commands for its list. */
const isKnown = ({ operation }: FeedProof) => operationNames.some((name) => name === operation);
