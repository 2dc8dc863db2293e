/** A row to write: column name to value. */
export type Row = Readonly<Record<string, unknown>>;
