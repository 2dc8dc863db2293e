import { createRedactor } from '../redact.ts';
import { secretsOf } from '../config/settings.ts';
import { exits, UsageError, type Context, type Registry } from './context.ts';
import { openData } from './database.ts';
import { timeoutOption } from './query.ts';

/** An optional peer: an installation without it has everything else. */
const sdk = '@modelcontextprotocol/sdk';

/** `mcp`: answers a program that speaks the Model Context Protocol, on stdin and stdout. */
export function register({ command, run, explain }: Registry): void {
  command.addOption(timeoutOption('30s')).action(run(mcp));
  explain(['explorer-etl mcp', 'explorer-etl mcp --demo'], `A client starts it. It needs ${sdk}.`);
}

async function mcp(context: Context, { timeout: timeoutMs }: { readonly timeout: number }) {
  if (context.json) throw new UsageError('stdout of mcp is its protocol: leave --json out.');
  const { serveMcp } = await import('../mcp/server.ts').catch((error: Error) => {
    if (!error.message.includes(sdk)) throw error;
    const how = `npm install ${sdk}, with -g if explorer-etl is installed so`;
    throw new UsageError(`mcp needs a package that is not installed. Install it: ${how}.`);
  });
  await using data = await openData(context, 'reads');
  const { pool, settings } = data;
  const redact = createRedactor(secretsOf(settings));
  const { pageSize } = settings.explorer;
  await serveMcp({ pool, pageSize, timeoutMs, redact, signal: context.signal });
  return exits.done;
}
