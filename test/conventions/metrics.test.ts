import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StatusDocument } from '../../src/status/schema.ts';
import { emptyStatus } from '../../src/status/status.ts';
import { code } from './docs-table.ts';
import { observing } from '../harness/http.ts';
import { feedOf } from '../harness/status.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');

/** One of which everything is known. */
const status: StatusDocument = {
  ...emptyStatus(new Date()),
  reasons: [
    {
      code: 'late',
      severity: 'warning',
      blocks_readiness: true,
      feeds: ['10/user-operations'],
      sentence: 'It is late.',
      advice: null,
      command: null,
    },
  ],
  credits: {
    spent: 20,
    limit: 100,
    left: 80,
    forecast: { kind: 'lasts-until', at: '2026-11-22T19:00:00.000Z' },
    keys: [],
  },
  feeds: [feedOf()],
};

async function families() {
  const { families: all } = await observing(async () => status).scrape();
  return [...all].filter(([name]) => name.startsWith('explorer_etl_'));
}

test('the metrics of docs/metrics.md are those of the code, with type, labels and meaning', async () => {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `explorer_etl_'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const labelsOf = new Map(
    (await families()).map(([name, { samples }]) => [
      name,
      Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== 'le'),
    ]),
  );
  // What the process did has no series yet.
  const unseen: Readonly<Record<string, readonly string[]>> = {
    explorer_etl_request_duration_seconds: ['class'],
  };
  expect(rows.toSorted(byName)).toEqual(
    (await families())
      .map(([name, { type, help }]) => {
        const labels = unseen[name] ?? labelsOf.get(name) ?? [];
        return [code(name), type, labels.map(code).join(', '), help];
      })
      .toSorted(byName),
  );
});

const byName = ([a = '']: readonly string[], [b = '']: readonly string[]) => (a < b ? -1 : 1);

test('docs/metrics.md and the dashboard of workers name only metrics that exist', async () => {
  const names = new Set((await families()).map(([name]) => name));
  const suffix = /_(?:bucket|sum|count)$/u;
  const workers = readFileSync(
    join(import.meta.dirname, '../../dashboards/grafana/workers.json'),
    'utf8',
  );
  expect(workers).toContain('explorer_etl_');
  const named = [...`${page} ${workers}`.matchAll(/explorer_etl_[a-z_]+/gu)].map(([name]) =>
    names.has(name) ? name : name.replace(suffix, ''),
  );
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});
