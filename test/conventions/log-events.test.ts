import { expect, test } from 'vitest';
import { logEvents } from '../../src/log.ts';
import { code, docsTable } from './docs-table.ts';

const table = (head: string) => docsTable('logs.md', head);

test('the events of docs/logs.md are those of the code, with level and fields, and a meaning', () => {
  const known = Object.entries(logEvents).map(([name, { level, fields, repeats, ends }]) => [
    code(name),
    level,
    expect.stringMatching(/\w/u),
    [...fields, ...((repeats ?? ends) ? ['times'] : [])].map(code).join(', '),
  ]);
  expect(table('event')).toEqual(known);
});

test('the fields of docs/logs.md are those of the events', () => {
  const used = new Set(Object.values(logEvents).flatMap(({ fields }): readonly string[] => fields));
  expect(table('field').filter(([name]) => name !== code('times'))).toEqual(
    [...used].toSorted().map((name) => [code(name), expect.stringMatching(/\w/u)]),
  );
});
