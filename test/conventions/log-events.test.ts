import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { events, fields as fieldKinds } from '../../src/events.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/logs.md'), 'utf8');

/** The cells of each row of the table whose first column is headed so. */
function table(head: string): string[][] {
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

const code = (text: string) => `\`${text}\``;

test('the events of docs/logs.md are those of the code, with level and fields, and a meaning', () => {
  const known = Object.entries(events).map(([name, { level, fields, repeats, ends }]) => [
    code(name),
    level,
    expect.stringMatching(/\w/u),
    [...fields, ...((repeats ?? ends) ? ['times'] : [])].map(code).join(', '),
  ]);
  expect(table('event')).toEqual(known);
});

test('the fields of docs/logs.md are those of the code, and each is one of some event', () => {
  expect(table('field').filter(([name]) => name !== code('times'))).toEqual(
    Object.keys(fieldKinds).map((name) => [code(name), expect.stringMatching(/\w/u)]),
  );
  const used = new Set(Object.values(events).flatMap(({ fields }): readonly string[] => fields));
  expect(Object.keys(fieldKinds).filter((name) => !used.has(name))).toEqual([]);
});
