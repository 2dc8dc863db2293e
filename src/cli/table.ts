import Table from 'cli-table3';

const plain = { head: [], border: [] };
const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A whole number for people, such as 12,345. */
export const whole = (count: number): string => counts.format(count);

/** A table for a terminal, without colours. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = new Table({ head: [...head], style: plain });
  for (const row of rows) lines.push([...row]);
  return lines.toString();
}
