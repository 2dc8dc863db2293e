import { z } from 'zod';

/** A finding: what it is, by a word for programs, and the fields that a sentence about it needs. */
const finding = <Kind extends string, Shape extends z.core.$ZodLooseShape>(
  kind: Kind,
  meaning: string,
  shape: Shape,
) => z.strictObject({ kind: z.literal(kind).describe(meaning), ...shape });

const unit = z
  .enum(['blocks', 'batches'])
  .describe(
    'What the range counts: blocks, or batches of a list that is ordered by their numbers.',
  );
const count = (what: string) => z.int().min(0).describe(what);
const maybe = (what: string) => z.int().min(0).nullable().describe(`${what} Null: not known.`);
const blockRange = {
  unit,
  from_block: count('The first of the range.'),
  to_block: count('The last of the range.'),
};
const batchRange = {
  from_batch: count('The first batch of the range.'),
  to_batch: count('The last batch of the range.'),
};
const batch = count('Number of the batch.');
const listedRange = {
  listed_from_block: count('Its first block by the list of batches.'),
  listed_to_block: count('Its last block by the list of batches.'),
};

/** One that keeps a feed from being complete. */
const open = <Kind extends string, Shape extends z.core.$ZodLooseShape>(
  kind: Kind,
  meaning: string,
  shape: Shape,
) =>
  finding(kind, meaning, {
    ...shape,
    command: z
      .string()
      .nullable()
      .describe('The command that mends it, or shows it; null: there is none.'),
  });

/** What keeps a feed from being complete, in the order of docs/operating.md. */
export const openFinding = z.discriminatedUnion('kind', [
  open('gap', 'A part of the list that no walk proves.', blockRange),
  open('unproved', 'Nothing that was read proves the feed.', {
    lacks: z
      .enum(['coverage', 'proved-batch', 'ranking'])
      .nullable()
      .describe('What would prove it; null: this version knows no such list.'),
  }),
  open('batches-not-read', 'Batches that were asked for, and nobody has read.', batchRange),
  open('no-batch-found', 'The newest batch was not found yet.', {}),
  open(
    'batches-without-blocks',
    'Batches above the newest one that the list of batches has, and whose blocks are missing.',
    batchRange,
  ),
  open(
    'batches-empty-unproved',
    'Batches that were read as empty, where the batches around them do not meet.',
    batchRange,
  ),
  open('batch-not-linked', 'Heights or hashes inside the batch do not meet.', { batch }),
  open('border-not-linked', 'Heights or hashes of two batches do not meet.', {
    lower_batch: count('The lower one.'),
    upper_batch: count('The upper one.'),
  }),
  open('batch-awaits-update', 'The service says that blocks of the batch will change.', {
    batch,
    blocks: count('How many blocks.'),
  }),
  open('batch-without-parents', 'Blocks of the batch tell no parent hash.', {
    batch,
    blocks: count('How many blocks.'),
  }),
  open('batch-ends-early', "The batch's list ended above its lowest block.", { batch }),
  open('batch-never-read-whole', 'The batch was never read in order and to its end.', { batch }),
  open('batch-not-settled', 'The batch was read, and its neighbours do not settle it.', {
    batch,
  }),
  open('batches-not-settled', 'More batches wait for the next one than a head has.', {
    ...batchRange,
    batches: count('How many.'),
    settled_to: z
      .int()
      .nullable()
      .describe('The highest settled batch below. Null: none is settled.'),
  }),
  open('batch-blocks-differ', 'Other blocks are stored than were read.', {
    batch,
    stored: count('Blocks that are stored.'),
    read: count('Blocks that were read.'),
  }),
  open('batch-range-differs', 'The stored blocks are others than those that were read.', {
    batch,
    stored_from_block: count('The lowest that is stored.'),
    stored_to_block: count('The highest that is stored.'),
    read_from_block: maybe('The lowest that was read.'),
    read_to_block: maybe('The highest that was read.'),
  }),
  open('batch-proved-not-linked', 'Blocks of a proved batch do not follow on those below.', {
    batch,
    blocks: count('How many blocks.'),
  }),
  open('batch-proved-awaits-update', 'Blocks of a proved batch await an update.', {
    batch,
    blocks: count('How many blocks.'),
  }),
  open('batch-list-differs', 'The list of batches tells other blocks of a proved batch.', {
    batch,
    from_block: count('Its first block by its blocks.'),
    to_block: count('Its last block by its blocks.'),
    ...listedRange,
  }),
  open('batch-empty-but-listed', 'A batch is proved empty, and the list tells blocks of it.', {
    batch,
    ...listedRange,
  }),
  open('totals-differ', 'What walks come to is not what is kept of them.', {}),
  open('quarantine', 'Items are in quarantine.', { items: count('How many.') }),
  open('state', 'The feed does not run as it should.', {
    state: z.string().describe('The state, as status tells it.'),
    reason: z.string().nullable().describe('Why; null: not told.'),
  }),
]);

/** What is read and not proved yet because it is new. */
export const headFinding = z.discriminatedUnion('kind', [
  finding('batches-wait', 'Batches above the highest settled one.', {
    ...batchRange,
    waits_for: z
      .enum(['blocks', 'update', 'lowest-blocks', 'next-batch'])
      .describe(
        'The rest of their blocks, an update of blocks, another read of the lowest blocks, or the next batch.',
      ),
  }),
]);

const drifted = {
  path: z.string().describe('Where in an item.'),
  occurrences: count('How often.'),
  first_page_id: count('etl.pages.id of the first page that had it.'),
};

/** What qualifies a proof, or should be known, and no walk would mend. */
export const note = z.discriminatedUnion('kind', [
  finding('ranking-moved', 'Factories moved during each walk: one that moved up may be missing.', {
    walks: count('How many walks the ranking took.'),
  }),
  finding('ranking-skipped', 'An empty page led past a part: the previous ranking stays.', {}),
  finding('ranking-empty', 'The list was empty, which is not believed: the ranking stays.', {}),
  finding('items-dropped', 'Items that a person dropped from quarantine: they are no rows.', {
    items: count('How many.'),
  }),
  finding('lower-border-unproved', 'No batch below the lowest one proves where it begins.', {
    batch,
    empty_below: count('Numbers below it that are empty by the service’s word alone.'),
  }),
  finding('new-field', 'Drift: a field that is not known, kept in extra.', drifted),
  finding('vanished-field', 'Drift: a field that is no longer told.', drifted),
  finding('mistyped-field', 'Drift: a value of another type, kept in extra unless it is null.', {
    ...drifted,
    type: z.string().describe('The JSON type that came.'),
  }),
  finding('malformed-field', 'Drift: a value of another format, kept in extra.', {
    ...drifted,
    expected: z.string().describe('What its format should be.'),
  }),
  finding('new-value', 'Drift: a value that is not known, kept as it is.', {
    ...drifted,
    value: z.string().describe('The value.'),
  }),
]);

/** With the command that mends it. */
export type ToldFinding = z.infer<typeof openFinding>;
type Bare<Told> = Told extends unknown ? Omit<Told, 'command'> : never;
/** As the database tells it. */
export type OpenFinding = Bare<ToldFinding>;
export type HeadFinding = z.infer<typeof headFinding>;
export type Note = z.infer<typeof note>;
