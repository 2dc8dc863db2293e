import { nearest } from '../config/nearest.ts';
import type { Source } from '../export/export.ts';
import type { Choice } from '../export/partition.ts';
import type { Relation } from '../export/relation.ts';
import { questions, statementOf, type Question } from '../query/question.ts';
import { UsageError } from './context.ts';

const dayMs = 86_400_000;

/** Which relations and questions an export is of. */
export interface ChosenSources {
  readonly sources: readonly Source[];
  /** Tables that were not named and can't be read whole by this role. */
  readonly leftOut: readonly string[];
}

/**
 * The relations and questions of these names; all tables where there are none.
 *
 * @throws UsageError where nothing has such a name
 */
export function chooseSources(
  names: readonly string[],
  relations: readonly Relation[],
  choice: Choice,
  today: string,
): ChosenSources {
  if (names.length === 0) {
    const tables = relations.filter(({ kind }) => kind === 'table');
    return {
      sources: tables.filter(({ isGuarded }) => !isGuarded).map(ofRelation),
      leftOut: tables.filter(({ isGuarded }) => isGuarded).map(({ name }) => name),
    };
  }
  const asked = questions();
  const sources = [...new Set(names)].map((name): Source => {
    const relation = relations.find((one) => one.name === name);
    if (relation !== undefined) return ofRelation(relation);
    const question = asked.find((one) => one.name === name);
    if (question !== undefined) return ofQuestion(question, choice, today);
    throw unknownName(name, [...relations, ...asked]);
  });
  return { sources, leftOut: [] };
}

const ofRelation = (relation: Relation): Source => ({ kind: 'relation', relation });

function ofQuestion(question: Question, { chains, from, to }: Choice, today: string): Source {
  const { name } = question;
  const [chain, ...others] = chains;
  if (others.length > 0)
    throw new UsageError(`${name} is a question: it takes one --chain at most.`);
  if (to !== null) throw new UsageError(`${name} is a question: it takes no --until.`);
  const days = from === null ? null : (Date.parse(today) - Date.parse(from)) / dayMs;
  const given = { ...(chain !== undefined && { chain }), ...(days !== null && { days }) };
  return { kind: 'question', name, statement: statementOf(question, given) };
}

function unknownName(name: string, known: readonly { readonly name: string }[]): UsageError {
  const near = nearest(
    name,
    known.map((one) => one.name),
  );
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  return new UsageError(
    `schema explorer has no table or view ${name}, and no question is called so.${guess} docs/tables.md lists the former, "explorer-etl query --list" the latter.`,
  );
}
