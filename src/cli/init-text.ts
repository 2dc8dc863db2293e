import { chainName } from '../chains.ts';
import type { InitDocument } from '../documents/init.ts';
import { printable } from '../printable.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { paint } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';

/** Prose is no wider than that, however wide the terminal is. */
const mostProse = 100;

/** Below the word Next. */
const indent = '      ';

/** What `init` wrote, and what to do next. */
export function initText(
  { file, chains, unknown_chains: unknown }: InitDocument,
  look: Look,
  hasKey: boolean,
): string {
  const width = Math.min(look.columns, mostProse);
  const named = chains.map((id) =>
    unknown.includes(id) ? String(id) : `${chainName(id)} (${id})`,
  );
  const steps = [
    ...(hasKey ? [] : [['export EXPLORER_API_KEY=…', 'your key; not in the file']]),
    ['explorer-etl check', 'tests file, database and key'],
    ['explorer-etl plan', 'what it costs'],
    ['explorer-etl sync', 'reads what is there'],
  ];
  const next = columns(
    { ...look, columns: look.columns - indent.length },
    {
      rows: steps.map(([command = '', what = '']) => [paint(look, 'command', command), what]),
      flexible: 1,
    },
  );
  return [
    ...wrap(printable(`Wrote ${file}: ${named.join(', ')}.`), width, 2),
    ...next.map((line, at) => `${at === 0 ? 'Next  ' : indent}${line}`),
    '',
  ].join('\n');
}

/** What to say of chains that are not known here. */
export const unknownText = (unknown: readonly number[]): string =>
  `Not known to explorer-etl: ${unknown.length === 1 ? 'chain' : 'chains'} ${unknown.join(', ')}. The explorer may not serve ${unknown.length === 1 ? 'it' : 'them'}; explorer-etl check asks.\n`;
