import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cells of each row of a document's table whose first column has this head. */
export function docsTable(document: string, head: string): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../docs', document), 'utf8');
  const rows = page.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const body = rows.slice(rows.findIndex(([first]) => first === head) + 2);
  return body.slice(
    0,
    body.findIndex((row) => row.length === 0),
  );
}

export const code = (text: string) => `\`${text}\``;
