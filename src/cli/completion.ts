import { readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { RootCommand } from '@bomb.sh/tab';
import { Argument, type Command, type Option } from 'commander';
import { UsageError, type GlobalOptions } from './context.ts';

/** Shells that have a script. */
const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * `completion SHELL` prints a script for the shell, which asks `complete -- WORDS` at each Tab. Both go by the
 * commands' own definitions.
 *
 * @param load gives a command its options
 */
export function registerCompletion(
  program: Command,
  load: (command: Command) => Promise<void>,
): void {
  program
    .command('completion')
    .description('print a script that completes commands and flags in your shell')
    .helpGroup('To begin with:')
    .addArgument(new Argument('<shell>', 'whose script').choices([...shells]))
    .addHelpText('after', examples)
    .action(async (shell: string) => {
      if (program.opts<GlobalOptions>().json) {
        throw new UsageError('the script is for a shell: leave --json out.');
      }
      const { default: root } = await import('@bomb.sh/tab');
      root.setup(program.name(), program.name(), shell);
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const { default: root } = await import('@bomb.sh/tab');
      const asked = program.commands.find((command) => words.includes(command.name()));
      if (asked !== undefined) await load(asked);
      const word = words.at(-1) ?? '';
      describe(root, program, word);
      root.parse([...words]);
    });
}

const examples = `
Examples:
  source <(explorer-etl completion bash)                                    in ~/.bashrc
  source <(explorer-etl completion zsh)                                     in ~/.zshrc
  explorer-etl completion fish > ~/.config/fish/completions/explorer-etl.fish
`;

/** Tells the library of all commands that are known. */
function describe(root: RootCommand, program: Command, word: string): void {
  const globals = optionsOf(program);
  for (const option of globals) addOption(root, option, word);
  const add = (command: Command, path: string): void => {
    const told = root.command(path, command.description());
    for (const option of [...optionsOf(command), ...globals]) addOption(told, option, word);
    for (const { argChoices, variadic } of command.registeredArguments) {
      const values = argChoices ?? (command.name() === 'help' ? namesOf(program) : []);
      told.argument('', (complete) => values.forEach((one) => complete(one, '')), variadic);
    }
    for (const child of visible(command)) add(child, `${path} ${child.name()}`);
  };
  for (const command of visible(program)) add(command, command.name());
}

const optionsOf = (command: Command) => command.createHelp().visibleOptions(command);
const namesOf = (parent: Command) => visible(parent).map((command) => command.name());
const visible = (command: Command) => command.createHelp().visibleCommands(command);

function addOption(
  to: RootCommand | ReturnType<RootCommand['command']>,
  option: Option,
  word: string,
) {
  const name = option.long?.slice(2);
  if (name === undefined) return;
  const alias = option.short?.slice(1);
  if (option.isBoolean()) {
    to.option(name, option.description, alias);
    return;
  }
  const values = () => option.argChoices ?? (isPath(option) ? pathsLike(word) : []);
  to.option(
    name,
    option.description,
    (complete) => values().forEach((one) => complete(one, '')),
    alias,
  );
}

const isPath = ({ flags }: Option) => /<(?:file|folder)>/u.test(flags);

/** Files and folders that a word may go on to; none where it can't be looked at. */
function pathsLike(word: string): string[] {
  const folder = word.endsWith('/') ? word : dirname(word);
  const begin = word.includes('/') ? (folder.endsWith('/') ? folder : `${folder}/`) : '';
  try {
    return readdirSync(resolve(folder), { withFileTypes: true }).map(
      (entry) => `${begin}${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
  } catch {
    return [];
  }
}
