import type { Command } from 'commander';

/**
 * `help [command…]`, the same as `--help` behind the command.
 *
 * @param load gives a command its options
 */
export function registerHelp(program: Command, load: (command: Command) => Promise<void>): void {
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]', 'the command that it is about')
    .description('show how a command is used')
    .helpGroup('To begin with:')
    .action(async (names: readonly string[]) => {
      let [asked, isLoaded] = [program, false];
      for (const name of names) {
        const found = asked.commands.find((command) => command.name() === name);
        if (found === undefined) {
          return asked.error(`error: unknown command '${names.join(' ')}'; see: explorer-etl help`);
        }
        // The hook has loaded help itself.
        if (!isLoaded && found.name() !== 'help') await load(found);
        [asked, isLoaded] = [found, true];
      }
      asked.help();
    });
}

/** What all commands have is told once, and where, in the help of each. */
export function addGlobalHint(command: Command): void {
  command.addHelpText('after', '\nOptions of all commands:  explorer-etl help');
  command.commands.forEach(addGlobalHint);
}
