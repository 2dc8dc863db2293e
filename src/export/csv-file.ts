import { csvHead, csvLines } from '../query/csv.ts';
import type { Column } from '../query/read.ts';
import type { FileAnswer } from './parquet-file.ts';
import type { Sink } from './data-file.ts';

/** Writes an answer as the CSV that `query` writes. */
export function csvFile(sink: Sink): FileAnswer {
  let columns: readonly Column[] = [];
  let head = '';
  const write = (text: string) => sink(Buffer.from(text));
  return {
    begin(all) {
      columns = all;
      head = csvHead(all);
    },
    async rows(rows) {
      await write(head + csvLines(columns, rows));
      head = '';
    },
    end: () => write(head),
  };
}
