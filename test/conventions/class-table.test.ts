import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FailureClass, failures, type FailureRule } from '../../src/failure.ts';
import { failingStates } from '../../src/lists/feed.ts';
import { stateOfWork } from '../../src/status/lanes.ts';
import { feedStates, overallStates, reasonCodes } from '../../src/status/schema.ts';
import { docsTable } from './docs-table.ts';

/** The cells of a table of docs/operating.md, without their code marks. */
const table = (head: string) =>
  docsTable('operating.md', head).map((row) => row.map((cell) => cell.replaceAll('`', '')));

/** How docs/operating.md words what the code says. */
const comesBack: Readonly<Record<FailureRule['again'], string>> = {
  growing: 'after growing waits',
  stated: 'at the stated time',
  poll: 'after a test request, every 5 minutes',
  daily: 'after a day',
  'next-run': 'with the next run',
  'at-once': 'at once',
};

test('the classes of docs/operating.md are those of the code, with state, exit code, log and advice', () => {
  const documented = table('class').map(([name, , ...facts]) => [name, ...facts]);
  const rules = Object.entries(failures) as [FailureClass, FailureRule][];
  const known = rules.map(([name, rule]) => [
    name,
    rule.retry === 'none' ? 'no' : 'yes',
    rule.feed === null ? 'as it was' : stateOfWork({ state: rule.feed, failure: name }, []),
    comesBack[rule.again],
    String(rule.exit),
    rule.log ?? 'none',
    rule.advice.replaceAll('`', ''),
  ]);
  expect(documented).toEqual(known);
});

test('every state that a class gives a feed is kept until the feed succeeds', () => {
  const given = Object.values(failures).flatMap(({ feed }) => feed ?? []);
  expect(given.filter((state) => !failingStates.includes(state))).toEqual([]);
});

test('the overall states, reasons and feed states of docs/operating.md are those of the code', () => {
  const firsts = (head: string) => table(head).map(([first = '']) => first);
  expect(firsts('overall')).toEqual(overallStates);
  expect(firsts('reason')).toEqual(reasonCodes);
  expect(firsts('state')).toEqual(feedStates);
});

test('the screen of docs/getting-started.md is one that is tested', () => {
  const [docs, screen] = [
    '../../docs/getting-started.md',
    '../unit/terminal/snapshots/status.txt',
  ].map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'));
  expect(docs).toContain(screen);
});
