import { stringify } from 'csv-stringify/sync';
import type { Column, Row } from './read.ts';
import { plainText } from './value.ts';

/** The line of names. */
export const csvHead = (columns: readonly Column[]): string =>
  spell([columns.map(({ name }) => name)]);

/**
 * Rows as RFC 4180 has them, but for lines that end as everywhere on Unix. As in Postgres, null is nothing
 * and an empty text is "".
 */
export const csvLines = (columns: readonly Column[], rows: readonly Row[]): string =>
  spell(
    rows.map((row) =>
      row.map((value, at) => (value === null ? null : plainText(value, columns[at]?.type ?? 0))),
    ),
  );

const spell = (records: readonly Row[]): string =>
  stringify(
    records.map((record) => [...record]),
    { quoted_match: /^$|\r/u },
  );
