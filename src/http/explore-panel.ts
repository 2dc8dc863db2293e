import { mostRows } from '../page/explore/answer.ts';
import { explore } from '../page/explore/explore.ts';
import type { ChosenQuestion, Dictionary, Field } from '../page/explore/facts.ts';
import { describeDatabaseError } from '../db/failure.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { questions, type Question } from '../query/question.ts';
import { askQuestion } from '../report/ask.ts';
import { describedTable, describedTables, searchDictionary } from '../report/dictionary.ts';
import { knownChains } from '../report/why/why.ts';
import type { Panel, PanelRequest } from './panel.ts';

/** Questions that have a name, one at a time, and the data dictionary. */
export const explorePanel: Panel = {
  id: 'explore',
  title: 'Explore',
  async render({ db, query, called }) {
    const all = questions();
    const name = query.get('explore-question') ?? '';
    const question = all.find((one) => one.name === name);
    const chains = await knownChains(db);
    return explore({
      questions: all,
      chosen: question === undefined ? null : await choose(question, { db, query, called }),
      problem: name === '' || question !== undefined ? null : 'There is no question of this name.',
      dictionary: await dictionaryOf(db, query),
      chains,
      query,
    });
  },
};

/** The page waits for it with all its other panels. */
const timeoutMs = 5_000;

/** What a field may be at most: rows that are shown, days that a calendar has. */
const most = { chain: Number.MAX_SAFE_INTEGER, days: 100_000, limit: mostRows };

async function choose(
  question: Question,
  { db, query, called }: Omit<PanelRequest, 'status'>,
): Promise<ChosenQuestion> {
  const { name, parameters, chart, text } = question;
  const fields: Field[] = parameters.map((parameter) => ({
    name: parameter.name,
    value: (query.get(`explore-${parameter.name}`) ?? '').trim() || (parameter.fallback ?? ''),
    meaning: parameter.meaning,
  }));
  const given = fields.filter(({ value }) => value !== '');
  const flags = given.map((field) => ` --${field.name} ${field.value}`).join('');
  const wrong = given.find((field) => !isWhole(field));
  const told = { name, question: question.question, fields, chart, sql: text };
  if (wrong !== undefined) {
    return {
      ...told,
      command: called(`explorer-etl query ${name}`),
      answer: { is: 'refused', message: problemOf(wrong) },
    };
  }
  const values = Object.fromEntries(given.map((field) => [field.name, Number(field.value)]));
  const command = called(`explorer-etl query ${name}${flags}`);
  try {
    const table = await askQuestion(db.$client, question, values, timeoutMs);
    return { ...told, command, answer: { is: 'answered', table } };
  } catch (error) {
    return { ...told, command, answer: { is: 'refused', message: messageOf(error) } };
  }
}

const isWhole = ({ name, value }: Field): boolean =>
  /^\d{1,16}$/u.test(value) && Number(value) >= 1 && Number(value) <= most[name];

const problemOf = ({ name }: Field): string =>
  name === 'chain'
    ? 'The chain is a whole number, or empty for all.'
    : `${name === 'days' ? 'Days are' : 'Rows are'} a whole number from 1 to ${most[name]}.`;

function messageOf(error: unknown): string {
  if (error instanceof StatementTimeoutError) {
    return `It took longer than ${timeoutMs / 1000} s, which is what this page gives it. A terminal gives it more.`;
  }
  return error instanceof StatementError ? error.message : describeDatabaseError(error);
}

function dictionaryOf(db: PanelRequest['db'], query: URLSearchParams): Promise<Dictionary> {
  const [word, table] = [query.get('explore-word') ?? '', query.get('explore-table') ?? ''];
  if (word.trim() !== '') return searchDictionary(db, word);
  return table === ''
    ? describedTables(db)
    : describedTable(db, table.slice(0, 100).replaceAll('\0', ''));
}
