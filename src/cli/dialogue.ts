import type { Readable, Writable } from 'node:stream';
import * as prompts from '@clack/prompts';
import { type OperationName, operationNames, operations } from '../lists/registry.ts';
import { type Context, UsageError } from './context.ts';
import { sinceOf, wholeNumber } from './options.ts';

/** Optimism has every list. */
export const usualChain = 10;

/** Requests per second, and credits a day. Paid plans have credits by the month. */
export const freePlan = { rate: 5, credits: 100_000 } as const;
const rates: readonly number[] = [freePlan.rate, 15, 30, 50];

type Terminal = { readonly stdin: Readable; readonly stdout: Writable };

/** The terminal on which a person can answer; null: none. */
export const terminalOf = ({ json, out }: Pick<Context, 'json' | 'out'>): Terminal | null =>
  !json && out.isTerminal && process.stdin.isTTY ? process : null;

/** Asks what to mirror, and with which plan. Null credits: no limit. @throws UsageError if a person cancels */
export async function askForChoice(
  { stdin, stdout }: Terminal,
  named: readonly { readonly id: number; readonly name: string }[],
  { since: from, signal }: { readonly since: string; readonly signal: AbortSignal },
) {
  const how = { input: stdin, output: stdout, signal, maxItems: 10 };
  const write = async <T>(message: string, usual: string, parse: (text: string) => T) => {
    const validate = (text = '') => problemOf(() => parse(text === '' ? usual : text));
    const shown = { placeholder: usual, defaultValue: usual, validate };
    return parse(await given(prompts.text({ message, ...shown, ...how })));
  };
  const chains = await given(
    // None is selected at first: what a person types would hide it.
    prompts.autocompleteMultiselect({
      message: 'Chains (type to filter, Tab to select)',
      options: named.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
      required: true,
      ...how,
    }),
  );
  const offered = (...offers: readonly string[]) =>
    operationNames.filter((name) =>
      chains.some((id) => offers.includes(operations[name].offer(id))),
    );
  const lists = await given(
    prompts.multiselect({
      message: 'Lists',
      options: offered('usual', 'if-named').map((value) => ({ value, hint: costOf(value) })),
      initialValues: offered('usual'),
      ...how,
    }),
  );
  const options = rates.map((value) => ({ value, label: String(value) }));
  const message = 'Requests a second (free: 5)';
  const rate = await given(prompts.select({ message, options, ...how }));
  const most = rate === freePlan.rate ? String(freePlan.credits) : unlimited;
  const credits = await write(`Credits a day at most, or ${unlimited}`, most, (text) =>
    text === unlimited ? null : wholeNumber(20)(text),
  );
  const since = await write('History since, such as 7d, or all', from, sinceOf);
  return { chains, lists, plan: { rate, credits }, since };
}

const unlimited = 'unlimited';

function problemOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
}

async function given<Answer>(prompt: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await prompt;
  if (prompts.isCancel(answer)) throw new UsageError('cancelled: nothing was written.');
  return answer as Exclude<Answer, symbol>;
}

/** Has a person confirm what is odd. @throws UsageError if none does */
export async function demandMeant(odd: string[], at: Terminal | null, signal: AbortSignal) {
  if (odd.length === 0) return;
  const message = `${odd.join(' ')} Is this meant?`;
  const how = at && { input: at.stdin, output: at.stdout, signal, initialValue: false };
  if (how !== null && (await prompts.confirm({ message, ...how })) === true) return;
  throw new UsageError(`${odd.join(' ')} Correct the number, or name the chain otherwise.`);
}

/** What the file that is written says above a list's settings. */
function costOf(name: OperationName): string {
  const { guide } = operations[name];
  const comments = guide.example(usualChain).matchAll(/^ {6}# (.*)$/gmu);
  return [guide.about, ...[...comments].map(([, text]) => text)].join(' ');
}
