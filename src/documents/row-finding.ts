import { z } from 'zod';

const count = (what: string) => z.int().min(0).describe(what);
const maybe = (what: string) => z.int().min(0).nullable().describe(`${what} Null: not known.`);

const table = z.string().describe('The table, with its schema.');

const finding = <Kind extends string, Shape extends z.core.$ZodLooseShape>(
  kind: Kind,
  meaning: string,
  shape: Shape,
) => z.strictObject({ kind: z.literal(kind).describe(meaning), table, ...shape });

const key = z.record(z.string(), z.unknown()).describe('Its primary key.');

/** The rows of a chain that were first stored at one moment, and where they came from. */
const moment = {
  chain_id: z.int().describe('Number of the chain.'),
  first_seen_at: z.string().describe('When they were first stored, ISO 8601.'),
  sources: z
    .array(
      z.strictObject({
        feed: z.string().describe('The feed whose walk brought them.'),
        walk_id: count('etl.walks.id.'),
        first_page_id: count('etl.pages.id of the first page.'),
        last_page_id: count('etl.pages.id of the last page.'),
        batch: maybe('The batch that was read.'),
        from_block: maybe('The lowest that the pages held.'),
        to_block: maybe('The highest that the pages held.'),
      }),
    )
    .describe('The pages that brought them; none: not known.'),
};

/** What is wrong with rows. */
export const rowFinding = z.discriminatedUnion('kind', [
  finding('row-changed', 'A row is not as the program wrote it.', { key }),
  finding('rows-gone', 'Rows were deleted.', {
    ...moment,
    rows: count('How many are gone.'),
    written: count('How many were written.'),
  }),
  finding('rows-added', 'Rows that the program did not write.', {
    ...moment,
    rows: count('How many.'),
  }),
  finding('rows-older', 'One or more rows in an older version.', {
    ...moment,
    rows: count('How many rows the moment has.'),
  }),
  finding('address-gone', 'An address that other rows name was deleted.', { key }),
  finding('chain-gone', 'A chain that has feeds was deleted.', { key }),
  finding('table-gone', 'A table is gone: only a backup has it.', {}),
  finding('columns-gone', 'A table is without columns: only a backup has them.', {
    columns: z.array(z.string()).describe('Which ones.'),
  }),
]);

export type RowFinding = z.infer<typeof rowFinding>;
