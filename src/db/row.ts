/** A table row on its way to the database: column name to value. */
export type Row = Readonly<Record<string, unknown>>;
