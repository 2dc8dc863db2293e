import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FailureClass, failures, type FailureRule } from '../../src/failure.ts';
import { feedStates, overallStates, reasonCodes } from '../../src/status/schema.ts';
import { feedOf, statusOf } from '../harness/status.ts';
import { docsTable } from './docs-table.ts';

/** The cells of a table of docs/operating.md, without their code marks. */
const table = (head: string) =>
  docsTable('operating.md', head).map((row) => row.map((cell) => cell.replaceAll('`', '')));

/** How docs/operating.md words what the code says. */
const comesBack: Readonly<Record<FailureRule['nextTry'], string>> = {
  growing: 'after growing waits',
  stated: 'at the stated time',
  poll: 'after a test request, every 5 minutes',
  daily: 'within a day',
  'next-run': 'with the next run',
  'at-once': 'at once',
};

test('the classes of docs/operating.md are those of the code, with state, exit code and log', () => {
  const documented = table('class').map(([name, , ...facts]) => [name, ...facts]);
  const rules = Object.entries(failures) as [FailureClass, FailureRule][];
  const known = rules.map(([name, rule]) => [
    name,
    rule.retry === 'none' ? 'no' : 'yes',
    rule.feed === null ? 'as it was' : rule.feed,
    comesBack[rule.nextTry],
    String(rule.exit),
    rule.log ?? 'none',
  ]);
  expect(documented).toEqual(known);
});

/** The alerts that a reason raises, as `deploy/prometheus/alerts.yaml` says. */
function alertsOf(code: string): string {
  const file = join(import.meta.dirname, '../../deploy/prometheus/alerts.yaml');
  const rules = readFileSync(file, 'utf8').split('- alert: ExplorerEtl').slice(1);
  const named = rules.filter((rule) => {
    const [, expr = ''] = /expr: (.*)/u.exec(rule) ?? [];
    if (code === 'database-unreachable') return expr.startsWith('explorer_etl_database_up');
    if (code === 'quarantine') return expr.includes('quarantine_items');
    const codes = /code=~?"([^"]+)"/u.exec(expr)?.[1]?.split('|') ?? [];
    return codes.includes(code) && !expr.includes('unless');
  });
  return named.map((rule) => rule.split('\n')[0]).join(', ');
}

test('each reason of docs/operating.md raises the alert that it names', () => {
  const documented = table('reason').map(([code, , , alert]) => [code, alert]);
  expect(documented).toEqual(reasonCodes.map((code) => [code, alertsOf(code)]));
});

test('every reason that only a person can end raises an alert', () => {
  const silent = table('reason').filter(
    ([code, severity]) => severity === 'action' && alertsOf(code ?? '') === '',
  );
  expect(silent).toEqual([]);
});

test('each class gives its feed one reason, with the severity and readiness of docs/operating.md', () => {
  const facts = new Map(table('reason').map(([code, ...own]) => [code, own]));
  const given = Object.entries(failures).flatMap(([name, rule]) => {
    const failure = name as FailureClass;
    if (rule.feed === null) return [];
    const { reasons } = statusOf([feedOf({ failure, state: rule.feed })]);
    return [
      [
        name,
        reasons.map(({ code, severity, blocks_readiness }) => [
          code,
          severity,
          blocks_readiness ? '503' : '200',
        ]),
      ],
    ];
  });
  for (const [name, reasons] of given) {
    const [first] = reasons ?? [];
    expect([name, reasons?.length], 'has one reason').toEqual([name, 1]);
    expect(facts.get(String(first?.[0]))?.slice(0, 2), String(name)).toEqual(first?.slice(1));
  }
});

test('every class of the database but a lost connection is the reason of the database', () => {
  const classes = Object.entries(failures).filter(
    ([name, { feed }]) => feed !== null && (name.startsWith('database-') || name === 'not-stored'),
  );
  expect(classes.length).toBeGreaterThan(5);
  for (const [name] of classes) {
    const { reasons } = statusOf([feedOf({ state: 'failing', failure: name as FailureClass })]);
    expect(reasons).toMatchObject([
      { code: 'database-failing', advice: failures[name as FailureClass].advice },
    ]);
  }
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
