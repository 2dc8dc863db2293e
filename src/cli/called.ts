/** What the program is called in its texts, before a command's name. */
const written = 'explorer-etl';

/**
 * What a user types before a command's name: the program itself, or `npx` where npm runs it, in a clone
 * too. npm names its command to the programs that it starts
 * (https://docs.npmjs.com/cli/v11/using-npm/scripts#environment).
 */
export const calledAs = ({ npm_command }: NodeJS.ProcessEnv): string =>
  npm_command === undefined ? written : `npx ${written}`;

/** Commands that look at the demo's database with `--demo`. */
const looks = [
  'status',
  'verify',
  'plan',
  'check',
  'open',
  'query',
  'export',
  'db shell',
  'db url',
];
/** Commands that read from the explorer: that of the demo is there while the demo runs. */
const works = ['sync', 'backfill', 'repair', 'start'];
/** All others. */
const others = ['demo', 'init', 'migrate', 'quarantine', 'replay', 'simulate', 'db', 'help'];

/**
 * A text for people, its commands as the user has to type them.
 *
 * @param isDemo whether it is about the demo's database
 */
export function asCalled(text: string, program: string, isDemo = false): string {
  const ofDemo = isDemo ? text.replaceAll(workMentions(), `${written} demo`) : text;
  const flagged = isDemo ? ofDemo.replaceAll(lookMentions(), '$& --demo') : ofDemo;
  return program === written ? flagged : flagged.replaceAll(mentions(), `${program} `);
}

const lookMentions = () =>
  new RegExp(String.raw`${before}${written} (?:${looks.join('|')})\b(?! --demo)`, 'gm');

/** With its options and their values. */
const workMentions = () =>
  new RegExp(
    String.raw`${before}${written} (?:${works.join('|')})\b(?: --[a-z][a-z-]*(?: (?!-)[\w./-]+)?)*`,
    'gm',
  );

/** Behind a colour too. */
const before = String.raw`(?<=^|[^\w./-]|\u001b\[\d+m)`;

const mentions = () =>
  new RegExp(
    String.raw`${before}${written} (?=(?:${[...looks, ...works, ...others].join('|')})\b)`,
    'gm',
  );
