import { describe, expect, test } from 'vitest';
import { call, expectOneMessage } from '../harness/call.ts';
import { command, eventually } from '../harness/process.ts';
import { hangMs } from '../harness/hang.ts';

describe('a wrong --fault ends with exit code 2 and one message', () => {
  test.each<[name: string, fault: string, message: RegExp]>([
    ['one that is none', 'mischief', /'mischief' is invalid.*no such fault.*"--fault list"/],
    ['one that is almost one', 'cut-in-itm', /Did you mean cut-in-item\?/],
    ['a rate above all', 'reset=2', /'reset=2' is invalid.*above 0 and at most 1/],
    ['a rate of nothing', 'reset=0', /above 0 and at most 1/],
    ['a rate that is no number', 'reset=often', /above 0 and at most 1/],
    ['two rates', 'reset=0.1=0.2', /more than one rate/],
  ])('%s', async (_name, fault, message) => {
    expectOneMessage(await call(['simulate', '--fault', fault]), message);
  });
});

test('--fault list names every fault, and ends', async () => {
  const { code, stdout } = await call(['simulate', '--fault', 'list', '--json']);
  expect(code).toBe(0);
  const { faults } = JSON.parse(stdout) as { faults: string[] };
  expect(faults).toEqual(
    expect.arrayContaining(['429-bare', 'cut-in-escape', 'gzip-bomb', 'proto-key']),
  );
});

test('simulate answers as --fault says', async () => {
  const statuses: number[] = [];
  await command(['simulate', '--port', '0', '--fault', '503', '--json'], {
    until: async (output) => {
      await eventually('its address', hangMs, async () => output().includes('\n}\n'));
      const { url } = JSON.parse(output()) as { url: string };
      statuses.push((await fetch(`${url}/10/api/v2/blocks/optimism-batch/1`)).status);
    },
  });
  expect(statuses).toEqual([503]);
});
