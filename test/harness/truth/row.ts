/** A row by its columns: absent values null, big integers as decimal strings, times as ISO text. */
export type Row = Record<string, unknown>;

/** An instant as rows hold it; null for none. */
export const isoOf = (instantMs: number | null): string | null =>
  instantMs === null ? null : new Date(instantMs).toISOString();
