import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectToFit, usual } from './looks.ts';
import { knownChainNames } from '../../../src/chains.ts';
import { askForChoice, demandMeant } from '../../../src/cli/dialogue.ts';
import { initText } from '../../../src/cli/init.ts';
import { operationNames, operations } from '../../../src/lists/registry.ts';

const commandLine = (command: string) => `npx ${command}`;
const written = {
  file: 'explorer-etl.yaml',
  chains: ['optimism (10)', 'base (8453)', 'celo (42220)', 'chain-999999 (999999)'],
};

test('the prompts of init match their snapshot', () => {
  expect(initText(written, usual, { hasKey: false, commandLine })).toMatchSnapshot();
  expectToFit((look) => initText(written, look, { hasKey: false, commandLine }));
});

test('init does not prompt for a key that is set', () => {
  const look = { isTerminal: false, columns: 100, isColoured: false };
  expect(initText(written, look, { hasKey: true, commandLine })).not.toContain('EXPLORER_API_KEY');
});

const { signal } = new AbortController();

/** What a person answers by these keys, each pressed when a prompt waits for one. */
async function answering<Answer>(
  ask: (terminal: { stdin: PassThrough; stdout: PassThrough }) => Promise<Answer>,
  ...keys: readonly string[]
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough().resume()];
  const answer = ask({ stdin, stdout });
  void (async () => {
    for (const key of keys) {
      await setImmediate();
      stdin.write(key);
    }
  })();
  return answer;
}

const choosing = (...keys: readonly string[]) =>
  answering(
    (terminal) => askForChoice(terminal, knownChainNames, { since: 'all', signal }),
    ...keys,
  );

const [mark, tab, down, enter, cancel] = [' ', '\t', '\u001b[B', '\r', '\u0003'];
const optimism = [...Array.from('optimism'), tab, enter];
const free = { rate: 5, credits: 100_000 };

test('init chooses the usual lists of a chain, the free plan and all history by default', async () => {
  const lists = operationNames.filter((name) => operations[name].offer(10) === 'usual');
  expect(await choosing(...optimism, enter, enter, enter, enter)).toEqual({
    chains: [10],
    lists,
    plan: free,
    since: 'all',
  });
});

test('what a person types filters the chains by name and number', async () => {
  const rest = [enter, enter, enter, enter, enter];
  expect((await choosing(...Array.from('zora'), tab, ...rest)).chains).toEqual([7_777_777]);
  expect((await choosing(...Array.from('8453'), tab, ...rest)).chains).toEqual([8453]);
});

test('a chain that is searched and not selected is not chosen, nor is another one', async () => {
  const rest = [tab, enter, enter, enter, enter, enter];
  expect((await choosing(...Array.from('celo'), enter, ...rest)).chains).toEqual([42_220]);
});

test('init chooses no chain that the directory lacks', async () => {
  const named = [{ id: 690, name: 'redstone' }];
  const ask = (terminal: Parameters<typeof askForChoice>[0]) =>
    askForChoice(terminal, named, { since: 'all', signal });
  const { chains } = await answering(ask, tab, enter, enter, enter, enter, enter);
  expect(chains).toEqual([690]);
});

test('init takes the lists that a person marks', async () => {
  const { lists } = await choosing(...optimism, mark, down, mark, enter, enter, enter, enter);
  expect(lists).toEqual(['optimism-batch-blocks', 'factories']);
});

test('a paid plan has no limit of credits but one that a person states', async () => {
  const paid = await choosing(...optimism, enter, down, down, enter, enter, enter);
  expect(paid.plan).toEqual({ rate: 30, credits: null });
  const typed = [...Array.from('5000'), enter, ...Array.from('7d'), enter];
  const stated = await choosing(...optimism, enter, enter, ...typed);
  expect(stated.plan).toEqual({ rate: 5, credits: 5_000 });
  expect(Date.parse(stated.since)).toBeLessThan(Date.now() - 6 * 86_400_000);
});

test('init writes nothing after Ctrl-C', async () => {
  await expect(choosing(...optimism, cancel)).rejects.toThrow('nothing was written');
});

test('what is odd is confirmed by a person, or refused', async () => {
  const odd = ['Chain 11 is named optimism, which is chain 10.'];
  const meaning = (...keys: readonly string[]) =>
    answering((terminal) => demandMeant(odd, terminal, signal), ...keys);
  await expect(meaning('y')).resolves.toBeUndefined();
  for (const key of ['n', enter, cancel]) {
    await expect(meaning(key)).rejects.toThrow(/which is chain 10\. Correct the number/u);
  }
  await expect(demandMeant(odd, null, signal)).rejects.toThrow(/which is chain 10/u);
  await expect(demandMeant([], null, signal)).resolves.toBeUndefined();
});
