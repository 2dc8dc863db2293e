import { extname } from 'node:path';
import type { Command } from 'commander';

/** The program's name in documents and errors: `explorer-etl sync`. */
const bareProgram = 'explorer-etl';

/** A clone runs the sources, and only `npx` finds the program there. */
const isClone = extname(import.meta.filename) === '.ts';

/**
 * What a user types before a command's name. npm names its own command to the programs that it starts
 * (https://docs.npmjs.com/cli/v11/using-npm/scripts#environment).
 */
export const programPrefix = ({ npm_command }: NodeJS.ProcessEnv, isSource = isClone): string =>
  isSource || npm_command !== undefined ? `npx ${bareProgram}` : bareProgram;

const demoReaders: ReadonlySet<string> = new Set([
  'status',
  'verify',
  'plan',
  'check',
  'open',
  'query',
  'export',
  'db shell',
  'db url',
]);
/** Commands that need the explorer; the demo's runs only during the demo. */
const explorerReaders: ReadonlySet<string> = new Set(['sync', 'backfill', 'repair', 'start']);

/** Formats a bare command, such as `explorer-etl verify`, as the user has to type it here. */
export type CommandLine = (command: string) => string;

/** Adds the program's prefix and `--demo` to bare commands. */
export const commandLineOf =
  ({ program, isDemo }: { readonly program: string; readonly isDemo?: true }): CommandLine =>
  (command) => {
    const [, ...words] = command.split(' ');
    const [name = '', inner = ''] = words;
    if (isDemo === true && explorerReaders.has(name)) return `${program} demo`;
    const length = name === 'db' && demoReaders.has(`db ${inner}`) ? 2 : 1;
    const takesDemo = demoReaders.has(words.slice(0, length).join(' '));
    if (isDemo !== true || !takesDemo || words.includes('--demo')) {
      return [program, ...words].join(' ');
    }
    return [program, ...words.slice(0, length), '--demo', ...words.slice(length)].join(' ');
  };

/** A copy of a document with each field `command` as the user has to type it. */
export const withCommands = <Document>(document: Document, commandLine: CommandLine): Document =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === 'command' && typeof value === 'string' ? commandLine(value) : value,
  ) as Document;

/** Adds text below a command's help, with its commands as the user has to type them. */
export const addHelp = (command: Command, text: (commandLine: CommandLine) => string): Command =>
  command.addHelpText('after', () => text(commandLineOf({ program: rootOf(command).name() })));

/** Adds examples to a command's help, below `notes`; `&&` joins bare commands in a line. */
export const addExamples = (command: Command, examples: readonly string[], notes = ''): Command =>
  addHelp(command, (line) => {
    const typed = examples.map((example) => example.split(' && ').map(line).join(' && '));
    return `${notes === '' ? '' : `\n${notes}\n`}\nExamples:\n${typed.map((example) => `  ${example}`).join('\n')}`;
  });

const rootOf = (command: Command): Command =>
  command.parent === null ? command : rootOf(command.parent);
