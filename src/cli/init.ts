import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { exampleConfig } from '../config/example.ts';
import { configFileName } from '../config/load.ts';
import { exitCodes, UsageError, writeDocument, type Registry } from './context.ts';
import { print } from './print.ts';

/** `init`: writes a configuration file to start from. Never overwrites one. */
export function registerInit({ command, run }: Registry): void {
  command
    .option(
      '--chain <id>',
      'a chain to copy (may be given several times; default 10)',
      collectChain,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl init --chain 10\n  explorer-etl init --chain 10 --chain 8453\n',
    )
    .action(
      run<{ chain?: readonly number[] }>(async (context, options) => {
        const name = options.config ?? configFileName;
        const file = resolve(context.cwd, name);
        if (existsSync(file)) {
          throw new UsageError(
            `${name} is there already; it was left as it is. Edit it, or remove it first.`,
          );
        }
        const chains = [...(options.chain ?? [10])];
        writeFileSync(file, exampleConfig(chains));
        if (options.json) {
          writeDocument(context, {
            schema: 'explorer-etl/init/1',
            exit: { code: exitCodes.done, reason: 'done' },
            file: name,
            chains,
          });
        } else {
          print(
            context,
            `Wrote ${name}. Next: set EXPLORER_API_KEY, then run: explorer-etl check\n`,
          );
        }
        return exitCodes.done;
      }),
    );
}

function collectChain(value: string, before: readonly number[] | undefined): number[] {
  if (!/^[1-9]\d{0,15}$/.test(value)) throw new UsageError(`--chain ${value}: not a number`);
  return [...(before ?? []), Number(value)];
}
