import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { nearest } from '../config/nearest.ts';
import { questions, readQuestion, type Question } from '../query/question.ts';
import { UsageError, type Context } from './context.ts';

/**
 * The statement or question that is asked: its text, the name of one that comes with the program, or a file.
 *
 * @throws UsageError where there is none, or two
 */
export async function questionOf(
  context: Context,
  { file }: { readonly file?: string },
  asked: string | undefined,
): Promise<Question> {
  if (asked !== undefined && file !== undefined) {
    throw new UsageError('a statement and --file exclude each other: choose one.');
  }
  if (file !== undefined) return readQuestion(file, await readStatement(context, file));
  if (asked === undefined) {
    throw new UsageError(
      'nothing is asked: add a statement in quotes, --file, or the name of a question; "explorer-etl query --list" lists them.',
    );
  }
  return /^[\w-]+$/u.test(asked) ? namedQuestion(asked) : readQuestion('a statement', asked);
}

function namedQuestion(name: string): Question {
  const all = questions();
  const question = all.find((one) => one.name === name);
  if (question !== undefined) return question;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  throw new UsageError(
    `there is no question ${name}.${guess} "explorer-etl query --list" lists them.`,
  );
}

async function readStatement({ cwd }: Context, file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin);
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as Error).message}`);
  }
}
