import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import {
  exportSource,
  readMoment,
  relationSources,
  type Source,
  type Sink,
} from '../export/export.ts';
import { contentsOf, fillFolder, type Written } from '../export/folder.ts';
import { isPermissionDenied } from '../db/failure.ts';
import { statementOf } from '../query/question.ts';
import { counted } from '../terminal/numbers.ts';
import { count } from '../status/schema.ts';
import { collect, momentParser } from './options.ts';
import { openData } from './database.ts';
import { UsageError, type Context, type Registry } from './context.ts';
import { questionOf } from './query.ts';

export const exportDocument = z.strictObject({
  schema: z.literal('explorer-etl/export/1'),
  folder: z.string(),
  relations: z.array(z.strictObject({ name: z.string(), rows: count, files: count })),
});

interface ExportOptions {
  readonly to: string;
  readonly overwrite: boolean;
  readonly changed: boolean;
  readonly query?: string;
  readonly format: Sink['format'];
  readonly chain: readonly string[];
  readonly since: string | null;
  readonly until: string | null;
}

export function register({ command, run, explain }: Registry): void {
  const format = new Option('--format <format>', 'of the files; spreadsheet: CSV without formulas');
  command
    .argument(
      '[names...]',
      'tables and views of schema explorer (default: all tables, and the views of data)',
    )
    .requiredOption('--to <folder>', 'where to: a new folder')
    .option('--overwrite', 'replace the chains and days that it exports, and keep others', false)
    .option('--changed', 'replace only what changed since the last export to that folder', false)
    .option('--query <query>', 'a question by its name, or a statement')
    .addOption(format.choices(['parquet', 'csv', 'spreadsheet']).default('parquet'))
    .option(
      '--chain <chain>',
      'only this chain, by number or name (repeatable)',
      collect(String),
      [],
    )
    .option('--since <day>', 'from this UTC day on, or that of so long ago, such as 7d', day, null)
    .option('--until <day>', 'up to this UTC day, or that of so long ago', day, null)
    .action(run(exportTo));
  const examples = [
    'explorer-etl export --to lake',
    'explorer-etl export user_operations blocks --to lake --chain 10 --since 7d --overwrite',
    'explorer-etl export --to lake --changed',
    'explorer-etl export --query top-senders --to report --format spreadsheet',
  ];
  explain(
    examples,
    `Files are partitioned by chain and day, and each is replaced at once. --since and --until choose
among relations that go by day; others are exported whole.`,
  );
}

const day = (value: string) => momentParser()(value).slice(0, 'yyyy-mm-dd'.length);

async function exportTo(context: Context, options: ExportOptions, names: readonly string[]) {
  const { signal } = context;
  const { format, query, overwrite, changed, since, until, chain } = options;
  const isLimited = names.length > 0 || chain.length > 1 || (since ?? until) !== null || changed;
  if (query !== undefined && isLimited) {
    throw new UsageError(
      '--query takes one --chain at most, and no names, --since, --until or --changed.',
    );
  }
  if (since !== null && until !== null && since > until) {
    throw new UsageError(`--since ${since} is after --until ${until}: exchange them.`);
  }
  await using data = await openData(context, 'reads', options);
  const { pool, chains } = data;
  const answer = query === undefined ? null : await sourceOfQuery(context, query, chains[0]);
  const sources = answer ?? (await relationSources(pool, names, chains, [since, until]));
  const to = resolve(context.cwd, options.to);
  const contents = changed ? contentsOf(to) : null;
  const moment = await readMoment(pool);
  const relations: z.infer<typeof exportDocument>['relations'] = [];
  await fillFolder(to, overwrite || changed, async (folder) => {
    const written: Written[] = [];
    for (const source of sources) {
      try {
        const target = { pool, folder, format, signal, moment, contents };
        const { rows, ...one } = await exportSource(source, target);
        written.push(one);
        relations.push({ name: one.name, rows, files: one.parts.size });
        const found = `${one.name}: ${counted(rows, 'row')}, ${counted(one.parts.size, 'file')}`;
        if (!context.json) context.note(found);
      } catch (error) {
        if (!isPermissionDenied(error) || answer !== null || names.length > 0) throw error;
        const why = 'Policies hide rows from a superuser: connect as owner or analyst.';
        context.warn(`Left out: ${source.name}. ${why}`);
      }
    }
    signal.throwIfAborted();
    return written;
  });
  return context.print(exportDocument, { folder: to, relations }, `${to}\n`);
}

/** The answer to a query, which takes a chain, or to a statement. */
async function sourceOfQuery(
  context: Context,
  query: string,
  chain: number | undefined,
): Promise<Source[]> {
  const question = await questionOf(context, {}, query);
  const statement = statementOf(question, { chain });
  const name = /^[\w-]+$/u.test(query) ? query : 'query';
  return [{ name, isPartitioned: false, covers: () => true, counted: null, ...statement }];
}
