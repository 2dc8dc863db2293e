/** A row by its columns: absent values null, big integers as decimal strings, times as ISO text. */
export type Row = Record<string, unknown>;
