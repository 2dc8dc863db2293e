import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isKnownChain } from '../chains.ts';
import { findChain } from '../config/chain-flag.ts';
import { readEnvironment } from '../config/environment.ts';
import { exampleConfig } from '../config/example.ts';
import { configFileName } from '../config/load.ts';
import type { InitDocument } from '../documents/init.ts';
import { collect } from './chosen-feeds.ts';
import { exitCodes, UsageError, writeDocument, type Registry } from './context.ts';
import { initText, unknownText } from './init-text.ts';
import { print, tell } from './print.ts';

/** `init`: writes a configuration file to start from. Never overwrites one. */
export function registerInit({ command, run }: Registry): void {
  command
    .option(
      '--chain <chain>',
      'a chain to copy, by number or name (repeatable; default 10)',
      collect,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl init --chain optimism\n  explorer-etl init --chain 10 --chain base\n',
    )
    .action(
      run<{ chain?: readonly string[] }>(async (context, options) => {
        const name = options.config ?? configFileName;
        const file = resolve(context.cwd, name);
        const chains = [...new Set((options.chain ?? ['10']).map(chainOf))];
        if (existsSync(file)) {
          throw new UsageError(
            `${name} is there already; it was left as it is. Edit it, or remove it first.`,
          );
        }
        writeFileSync(file, exampleConfig(chains));
        const unknown = chains.filter((id) => !isKnownChain(id));
        const document: InitDocument = {
          schema: 'explorer-etl/init/1',
          exit: { code: exitCodes.done, reason: 'done' },
          file: name,
          chains,
          unknown_chains: unknown,
        };
        if (unknown.length > 0) tell(context, unknownText(unknown));
        if (options.json) writeDocument(context, document);
        else print(context, initText(document, context.out, hasKey(context)));
        return exitCodes.done;
      }),
    );
}

/** Whether a key is there; what is wrong with it is left to the commands that use it. */
const hasKey = ({ env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string }) =>
  readEnvironment(env, cwd, () => undefined).apiKey !== null;

function chainOf(flag: string): number {
  const found = findChain(flag, []);
  if ('problem' in found) throw new UsageError(found.problem);
  return found.id;
}
