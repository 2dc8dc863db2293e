import type { ComponentChildren } from 'preact';

/**
 * A column: its name, what a row has in it, how it stands, and what is in place of its name. Numbers are at the
 * right; what names a row is its head; where it is narrow, a long cell has a line of its own.
 */
export type Column<Row> = readonly [
  name: string,
  of: (row: Row) => ComponentChildren,
  as?: 'number' | 'head' | 'long' | undefined,
  heading?: ComponentChildren,
];

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly class: string;
}

/** A table; its rows become cards where it is narrow. */
export const Table = <Row,>({ columns, rows, class: kind }: TableProps<Row>) => (
  <table class={kind}>
    <thead>
      <tr>
        {columns.map(([name, , as, heading]) => (
          <th key={name} scope="col" class={as}>
            {heading ?? name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={at}>
          {columns.map(([name, of, as]) => {
            const Cell = as === 'head' ? 'th' : 'td';
            return (
              <Cell key={name} class={as} data-name={name}>
                {of(row)}
              </Cell>
            );
          })}
        </tr>
      ))}
    </tbody>
  </table>
);
