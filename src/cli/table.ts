import Table from 'cli-table3';

const plain = { head: [], border: [] };
/** How the columns of a table lie; as wide as their longest value, and to the left, if absent. */
interface Layout {
  readonly aligns?: readonly ('left' | 'right')[];
  /** With a blank on either side; what is longer is cut. */
  readonly widths?: readonly number[];
}

/** A table for a terminal, without colours. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  { aligns = [], widths = [] }: Layout = {},
): string {
  const lines = new Table({
    head: [...head],
    style: plain,
    colAligns: [...aligns],
    colWidths: [...widths],
  });
  for (const row of rows) lines.push([...row]);
  return lines.toString();
}
