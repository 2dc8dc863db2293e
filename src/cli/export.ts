import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { exportSource, fillFolder, readRelations, sourceOf } from '../export/export.ts';
import type { Format, Outcome, Relation, Source } from '../export/export.ts';
import { statementOf } from '../query/question.ts';
import { momentForms, parseMoment } from '../time.ts';
import { counted } from '../terminal/numbers.ts';
import { collect, addExamples } from './options.ts';
import { storedFeeds, demandData, existing, onDatabase } from './database.ts';
import { UsageError, type Context, type GlobalOptions, type Registry } from './context.ts';
import { printAnswer } from './print.ts';
import { questionOf } from './query.ts';

export const exportDocument = z.strictObject({
  schema: z.literal('explorer-etl/export/1'),
  folder: z.string(),
  relations: z.array(
    z.strictObject({ name: z.string(), rows: z.int().min(0), files: z.int().min(0) }),
  ),
});

interface ExportOptions extends GlobalOptions {
  readonly to: string;
  readonly overwrite: boolean;
  readonly query?: string;
  readonly format: Format;
  readonly chain: readonly string[];
  readonly since: string | null;
  readonly until: string | null;
  readonly demo?: boolean;
}

export function register({ command, run }: Registry): void {
  const format = new Option('--format <format>', 'of the files').choices(['parquet', 'csv']);
  command
    .argument('[names...]', 'tables and views of schema explorer (default: all tables)')
    .requiredOption('--to <folder>', 'where to: a new folder')
    .option('--overwrite', 'replace the earlier export in that folder', false)
    .option('--query <query>', 'a question by its name, or a statement')
    .addOption(format.default('parquet'))
    .option('--chain <chain>', 'only this chain, by number or name (repeatable)', collect, [])
    .option('--since <day>', 'from this UTC day on, or that of so long ago, such as 7d', day, null)
    .option('--until <day>', 'up to this UTC day, or that of so long ago', day, null)
    .option('--demo', "export the demo's database")
    .action(run(exportTo));
  const examples = [
    'explorer-etl export --to lake',
    'explorer-etl export user_operations blocks --to lake --chain 10 --since 7d --overwrite',
    'explorer-etl export --query top-senders --to report --format csv',
  ];
  addExamples(
    command,
    examples,
    `Files go by chain and day. The folder is there whole or not at all. --since and --until choose among
relations that go by day; others are exported whole.`,
  );
}

function day(value: string): string {
  const time = parseMoment(value, new Date());
  if (time === null) throw new InvalidArgumentError(`It is not ${momentForms}`);
  return time.slice(0, 'yyyy-mm-dd'.length);
}

async function exportTo(context: Context, options: ExportOptions, names: readonly string[]) {
  const { signal, stderr } = context;
  const { format, query, overwrite, since, until, json, quiet } = options;
  const { settings, chains } = storedFeeds(context, options);
  if (query !== undefined && (names.length > 0 || chains.length > 1 || (since ?? until) !== null)) {
    throw new UsageError('--query takes one --chain at most, and no names, --since or --until.');
  }
  const answer = query === undefined ? null : await sourceOfQuery(context, query, chains[0]);
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const { pool } = database;
    const sources =
      answer === null
        ? chosenRelations(context, names, await readRelations(pool, signal)).map((relation) =>
            sourceOf(relation, chains, [since, until]),
          )
        : [answer];
    const folder = resolve(context.cwd, options.to);
    const relations = await fillFolder(folder, overwrite, async (temporary) => {
      const made: Outcome[] = [];
      for (const source of sources) {
        const outcome = await exportSource(pool, source, temporary, format, signal);
        const { name, rows, files } = outcome;
        made.push(outcome);
        if (!quiet && !json)
          stderr(`${name}: ${counted(rows, 'row')}, ${counted(files, 'file')}\n`);
      }
      signal.throwIfAborted();
      return made;
    });
    return printAnswer(
      context,
      { json },
      {
        schema: exportDocument,
        fields: { folder, relations: [...relations] },
        text: () => `${folder}\n`,
      },
    );
  });
}

/** The named relations; without names, all tables that can be read whole. */
function chosenRelations(
  { stderr }: Context,
  names: readonly string[],
  all: readonly Relation[],
): readonly Relation[] {
  const unknown = names.find((name) => all.every((relation) => relation.name !== name));
  if (unknown !== undefined) {
    throw new UsageError(
      `schema explorer has no table or view ${unknown}: docs/tables.md lists them; --query exports a question or a statement.`,
    );
  }
  if (names.length > 0) return all.filter(({ name }) => names.includes(name));
  const tables = all.filter(({ isTable }) => isTable);
  for (const { name } of tables.filter(({ isGuarded }) => isGuarded)) {
    stderr(
      `Left out: ${name}. Policies hide rows from a superuser: connect as owner or analyst.\n`,
    );
  }
  return tables.filter(({ isGuarded }) => !isGuarded);
}

/** The relation of a query, which takes a chain, or of a statement. */
async function sourceOfQuery(
  context: Context,
  query: string,
  chain: number | undefined,
): Promise<Source> {
  const statement = statementOf(
    await questionOf(context, {}, query),
    chain === undefined ? {} : { chain },
  );
  return { name: /^[\w-]+$/u.test(query) ? query : 'query', partition: [], ...statement };
}
