import { basename } from 'node:path';
import { nearest } from '../config/nearest.ts';
import type { Source } from '../export/export.ts';
import type { Choice } from '../export/partition.ts';
import type { Relation } from '../export/relation.ts';
import { statementOf } from '../query/question.ts';
import { questionOf } from './asked-question.ts';
import { UsageError, type Context } from './context.ts';

const dayMs = 86_400_000;

/** Which relations an export is of. */
export interface ChosenRelations {
  readonly relations: readonly Relation[];
  /** Tables that were not named and can't be read whole by this role. */
  readonly leftOut: readonly string[];
}

/**
 * The relations of these names; all tables where none is named.
 *
 * @throws UsageError where nothing has such a name
 */
export function chooseRelations(
  names: readonly string[],
  all: readonly Relation[],
): ChosenRelations {
  if (names.length > 0) {
    return { relations: [...new Set(names)].map((name) => relationOf(name, all)), leftOut: [] };
  }
  const tables = all.filter(({ kind }) => kind === 'table');
  return {
    relations: tables.filter(({ isGuarded }) => !isGuarded),
    leftOut: tables.filter(({ isGuarded }) => isGuarded).map(({ name }) => name),
  };
}

function relationOf(name: string, all: readonly Relation[]): Relation {
  const relation = all.find((one) => one.name === name);
  if (relation !== undefined) return relation;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  throw new UsageError(
    `schema explorer has no table or view ${name}.${guess} docs/tables.md lists them; --query exports a question or a statement.`,
  );
}

/**
 * The answer to a question, to the statement of a file that ends in .sql, or to a statement. A question takes
 * the chain, and counts its days from the first one.
 *
 * @throws UsageError and StatementError where it takes no such choice
 */
export async function querySource(
  context: Context,
  asked: string,
  { chains, from, to }: Choice,
  today: string,
): Promise<Source> {
  const isFile = asked.endsWith('.sql');
  const question = await questionOf(
    context,
    isFile ? { file: asked } : {},
    isFile ? undefined : asked,
  );
  const [chain, ...others] = chains;
  if (others.length > 0) throw new UsageError('--query takes one --chain at most.');
  if (to !== null) throw new UsageError('--query takes no --until.');
  const days = from === null ? null : (Date.parse(today) - Date.parse(from)) / dayMs;
  const statement = statementOf(question, {
    ...(chain !== undefined && { chain }),
    ...(days !== null && { days }),
  });
  const name = isFile ? basename(asked, '.sql') : question.name;
  return { name: /^[\w-]+$/u.test(name) ? name : 'query', statement };
}
