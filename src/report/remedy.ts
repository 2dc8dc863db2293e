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
  'batches-not-read': 'repair',
  'no-batch-found': 'sync',
  'batches-without-blocks': 'sync',
  'batches-empty-unproved': 'repair',
  'batch-not-linked': 'repair',
  'border-not-linked': 'repair',
  'batch-awaits-update': 'repair',
  'batch-without-parents': 'repair',
  'batch-ends-early': 'repair',
  'batch-never-read-whole': 'repair',
  'batch-not-settled': 'repair',
  'batches-not-settled': 'repair',
  'batch-blocks-differ': 'repair',
  'batch-range-differs': 'repair',
  'batch-proved-not-linked': 'repair',
  'batch-proved-awaits-update': 'repair',
  'batch-list-differs': 'repair',
  'batch-empty-but-listed': 'repair',
  'totals-differ': 'repair',
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
  if (finding.kind === 'unproved' && finding.lacks === 'proved-batch') return 'sync';
  return remedies[finding.kind] ?? null;
}

const flags = ({ chain_id, operation }: Pick<FeedProof, 'chain_id' | 'operation'>) =>
  `--chain ${chain_id} --operation ${operation}`;

/** Whether this version has commands for its list. */
const isKnown = ({ operation }: FeedProof) => operationNames.some((name) => name === operation);
