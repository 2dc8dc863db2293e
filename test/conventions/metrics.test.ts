import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definitions, type Definition } from '../../src/http/metrics/definitions.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
const code = (text: string) => `\`${text}\``;

test('the metrics of docs/metrics.md are those of the code, with type, labels, meaning and how they add up', () => {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `explorer_etl_'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(rows).toEqual(
    Object.entries<Definition>(definitions).map(([name, { type, labels, help, aggregate }]) => [
      code(name),
      type,
      labels.map(code).join(', '),
      help,
      aggregate,
    ]),
  );
});

test('no page names a metric that there is not', () => {
  const suffix = /_(?:bucket|sum|count)$/u;
  const named = [...page.matchAll(/explorer_etl_[a-z_]+/gu)].map(([name]) =>
    name in definitions ? name : name.replace(suffix, ''),
  );
  expect(named.filter((name) => !(name in definitions))).toEqual([]);
});
