import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Answer, Column, Row } from '../query/read.ts';
import { parquetType, parquetValue, type ParquetType, type ParquetValue } from './parquet-type.ts';
import type { Sink } from './data-file.ts';

/**
 * A group is made in memory. Readers like larger ones better, and 50,000 rows took 491 MB where these took 416 MB
 * (docs/decisions/0029-export.md).
 */
const groupRows = 20_000;
/** Rows may be long: a group is written earlier where they hold so many characters. */
const groupCharacters = 16 * 1024 * 1024;

/** An answer on its way into a file. */
export interface FileAnswer extends Answer {
  /** Writes what is left. */
  end(): Promise<void>;
}

interface Filled {
  readonly name: string;
  readonly type: ParquetType;
  data: ParquetValue[];
}

/** Writes an answer as Parquet, a group of rows after the other. */
export function parquetFile(sink: Sink, createdBy: string): FileAnswer {
  let columns: readonly Filled[] = [];
  let file: ParquetWriter | null = null;
  let rowsInGroup = 0;
  let charactersInGroup = 0;
  const fill = (row: Row) => {
    for (const [at, { name, type, data }] of columns.entries()) {
      const value = row[at] ?? null;
      data.push(parquetValue(type, value, name));
      charactersInGroup += value?.length ?? 0;
    }
    rowsInGroup += 1;
  };
  const flush = async () => {
    if (rowsInGroup === 0) return;
    const columnData = columns.map(({ name, data }) => ({ name, data }));
    await file?.write({ columnData, rowGroupSize: rowsInGroup });
    for (const column of columns) column.data = [];
    [rowsInGroup, charactersInGroup] = [0, 0];
  };
  return {
    begin(all: readonly Column[]) {
      columns = all.map(({ name, type }) => ({ name, type: parquetType(type), data: [] }));
      file = openWriter(columns, sink, createdBy);
    },
    async rows(rows) {
      for (const row of rows) {
        fill(row);
        if (rowsInGroup >= groupRows || charactersInGroup >= groupCharacters) await flush();
      }
    },
    async end() {
      await flush();
      await file?.finish();
    },
  };
}

function openWriter(columns: readonly Filled[], sink: Sink, createdBy: string): ParquetWriter {
  const writer = new ByteWriter();
  const pass = async () => {
    await sink(writer.getBytes());
    writer.index = 0;
  };
  return new ParquetWriter({
    writer: Object.assign(writer, { flush: pass, finish: pass }),
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type }) => ({
        name,
        ...type.element,
        repetition_type: 'OPTIONAL' as const,
      })),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy,
  });
}
