import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectToFit, usual } from './looks.ts';
import { askForChoice, initText } from '../../../src/cli/init.ts';
import { operationNames, operations } from '../../../src/lists/registry.ts';

const commandLine = (command: string) => `npx ${command}`;
const written = {
  file: 'explorer-etl.yaml',
  chains: [10, 8453, 42_220, 999_999],
  unknown_chains: [999_999],
};

test('the prompts of init match their snapshot', () => {
  expect(initText(written, usual, { hasKey: false, commandLine })).toMatchSnapshot();
  expectToFit((look) => initText(written, look, { hasKey: false, commandLine }));
});

test('init does not prompt for a key that is set', () => {
  const look = { isTerminal: false, columns: 100, isColoured: false };
  expect(initText(written, look, { hasKey: true, commandLine })).not.toContain('EXPLORER_API_KEY');
});

/** What a person chooses by these keys, each pressed when a prompt waits for one. */
async function answering(...keys: readonly string[]) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough().resume()];
  const choice = askForChoice({ stdin, stdout }, new AbortController().signal);
  void (async () => {
    for (const key of keys) {
      await setImmediate();
      stdin.write(key);
    }
  })();
  return choice;
}

const [mark, down, enter, cancel] = [' ', '\u001b[B', '\r', '\u0003'];

test('init chooses Optimism and its usual lists by default', async () => {
  const lists = operationNames.filter((name) => operations[name].offer(10) === 'usual');
  expect(await answering(enter, enter)).toEqual({ chains: [10], lists });
  expect(await answering(mark, down, mark, enter, mark, enter)).toEqual({
    chains: [30],
    lists: ['optimism-batch-blocks', 'factories'],
  });
});

test('init writes nothing after Ctrl-C', async () => {
  await expect(answering(enter, cancel)).rejects.toThrow('nothing was written');
});
