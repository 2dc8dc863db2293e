import type { RowFinding } from '../documents/row-finding.ts';
import { printable } from '../printable.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** What is wrong with rows as one line for people. */
export const rowFindingText = (finding: RowFinding): string => {
  const key = 'key' in finding ? ` (${Object.values(finding.key).join(', ')})` : '';
  return printable(`${finding.table}${key}: ${describe(finding)}`);
};

function describe(finding: RowFinding): string {
  switch (finding.kind) {
    case 'row-changed':
      return 'not as the program wrote it';
    case 'address-gone':
      return 'gone, though other rows name it';
    case 'chain-gone':
      return 'gone, though it has feeds';
    case 'table-gone':
      return 'the table is gone: restore it from a backup';
    case 'columns-gone':
      return `without ${finding.columns.join(', ')}: restore the table from a backup`;
    case 'rows-gone':
      return ofMoment(finding, `${whole(finding.rows)} of ${counted(finding.written, 'row')} gone`);
    case 'rows-added':
      return ofMoment(finding, `${counted(finding.rows, 'row')} that the program did not write`);
    case 'rows-older':
      return ofMoment(
        finding,
        `one or more of ${counted(finding.rows, 'row')} in an older version`,
      );
    default:
      finding satisfies never;
      return JSON.stringify(finding);
  }
}

type Moment = Extract<RowFinding, { sources: unknown }>;

function ofMoment({ chain_id, first_seen_at, sources }: Moment, says: string): string {
  const pages = sources.length === 0 ? '' : ` with ${sources.map(spellSource).join(', ')}`;
  return `chain ${chain_id}: ${says}, first stored at ${first_seen_at}${pages}`;
}

function spellSource(source: Moment['sources'][number]): string {
  const { feed, walk_id, batch, from_block: from, to_block: to } = source;
  const place =
    batch !== null
      ? `batch ${batch}`
      : from !== null && to !== null
        ? `blocks ${from} to ${to}`
        : 'ranking';
  return `${feed} ${place} (pages ${source.first_page_id} to ${source.last_page_id} of walk ${walk_id})`;
}
