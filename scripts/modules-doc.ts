import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { modules } from './layers.ts';

/** `npm run generate modules`: writes the table of modules in docs/architecture.md. */
const file = join(import.meta.dirname, '../docs/architecture.md');

/** docs/architecture.md with the modules of `layers.ts`. */
export async function architecturePage(): Promise<string> {
  const rows = modules.map(
    ([name, does]) => `| \`${name}${name.includes('.') ? '' : '/'}\` | ${does} |`,
  );
  const lines = ['| module of `src/` | what it does |', '| --- | --- |', ...rows];
  const table = await format(lines.join('\n'), { parser: 'markdown' });
  const page = await readFile(file, 'utf8');
  return page.replace(/^\| module of .*?\n\n/msu, () => `${table}\n`);
}

if (import.meta.main) await writeFile(file, await architecturePage());
