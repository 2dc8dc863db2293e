import type { ComponentChildren } from 'preact';

/** A column: its name, and what a row has in it. */
export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => ComponentChildren;
  /** Numbers are at the right; what names a row is its head; where it is narrow, a long cell has its own line. */
  readonly as?: 'number' | 'head' | 'long';
  /** In place of the name. */
  readonly heading?: ComponentChildren;
}

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly class: string;
}

/** A table; its rows become cards where it is narrow. */
export const Table = <Row,>({ columns, rows, class: name }: TableProps<Row>) => (
  <table class={name}>
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.name} scope="col" class={column.as}>
            {column.heading ?? column.name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={at}>
          {columns.map(({ name: title, of, as }) => {
            const Cell = as === 'head' ? 'th' : 'td';
            return (
              <Cell key={title} class={as} data-name={title}>
                {of(row)}
              </Cell>
            );
          })}
        </tr>
      ))}
    </tbody>
  </table>
);
