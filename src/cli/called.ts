import { commands } from './commands.ts';

/** What the program is called in its texts, before a command's name. */
const written = 'explorer-etl';
/** The scripts of the package's own clone that run the program. */
const ownScripts: ReadonlySet<string | undefined> = new Set([written, 'demo', 'start']);

/**
 * What a user types before a command's name: the program itself, or what npm runs it with. npm tells the
 * programs that it starts (https://docs.npmjs.com/cli/v11/using-npm/scripts#environment).
 */
export function calledAs({
  npm_command,
  npm_lifecycle_event,
  npm_package_name,
}: NodeJS.ProcessEnv): string {
  if (npm_package_name === written && ownScripts.has(npm_lifecycle_event)) {
    return `npm run --silent ${written} --`;
  }
  return npm_command === undefined ? written : `npx ${written}`;
}

/** A text for people, its commands as the user has to type them. */
export const asCalled = (text: string, program: string): string =>
  program === written ? text : text.replaceAll(mentions(), `${program} `);

/** Behind a colour too. */
const mentions = () =>
  new RegExp(
    `(?<=^|[^\\w./-]|\\u001b\\[\\d+m)${written} (?=(?:${commands.map(({ name }) => name).join('|')}|help)\\b)`,
    'gm',
  );
