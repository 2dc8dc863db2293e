import { describe, expect, test } from 'vitest';
import { findChain } from '../../../src/config/select.ts';
import { complaints, load } from './folder.ts';

describe('--chain means', () => {
  test.each([
    ['10', 10],
    ['123456', 123_456],
    ['optimism', 10],
    ['Optimism', 10],
    ['World Chain', 480],
    ['world-chain', 480],
  ])('%s: chain %d', (flag, id) => {
    expect(findChain(flag, [])).toEqual({ id });
  });

  test('the name in the configuration before the usual one', () => {
    const listed = [{ id: 99, name: 'base' }, { id: 10, name: 'op' }, { id: 42_220 }];
    expect(findChain('base', listed)).toEqual({ id: 99 });
    expect(findChain('op', listed)).toEqual({ id: 10 });
    expect(findChain('celo', listed)).toEqual({ id: 42_220 });
    expect(findChain('optimism', listed)).toEqual({ id: 10 });
  });

  const noNumber = /: not a chain's number, such as 10; repeat --chain for several$/;

  test.each<[flag: string, problem: RegExp]>([
    ['optimsm', /^--chain optimsm: no chain has this name; did you mean optimism \(10\)\?$/],
    ['nowhere', /no chain has this name; there are ethereum, optimism.* such as 10 for optimism$/],
    ['0', noNumber],
    ['10x', noNumber],
    ['1e3', noNumber],
    ['1.5', noNumber],
    ['10,8453', noNumber],
    ['99999999999999999', noNumber],
  ])('no chain if it is %s', (flag, problem) => {
    expect(findChain(flag, [])).toEqual({ problem: expect.stringMatching(problem) });
  });

  test('no chain if it is similar to a name in the configuration', () => {
    const problem = expect.stringMatching(/did you mean staging-net \(7\)\?$/);
    expect(findChain('stagingnett', [{ id: 7, name: 'staging-net' }])).toEqual({ problem });
  });

  test('no chain if it has three typing errors and lacks the dash of a name', () => {
    const problem = expect.stringMatching(/did you mean staging-net \(7\)\?$/);
    expect(findChain('stgngnt', [{ id: 7, name: 'staging-net' }])).toEqual({ problem });
  });

  test('no chain if two chains of the configuration have the name', () => {
    const twins = [
      { id: 7, name: 'twin' },
      { id: 8, name: 'Twin' },
    ];
    const problem = expect.stringMatching(/several chains.*such as 7/);
    expect(findChain('twin', twins)).toEqual({ problem });
  });
});

describe('the settings of named chains', () => {
  test('a chain may be named', () => {
    const { chains } = load(null, { chains: ['optimism', '10', 'Base'] });
    expect(chains.map(({ id, name }) => [id, name])).toEqual([
      [10, 'optimism'],
      [8453, 'base'],
    ]);
  });

  const text = `
chains:
  - id: 10
    name: op
  - id: 8453
  - id: 1
`;

  test('chains can be named as in the configuration, and by their usual names', () => {
    const { chains } = load(text, { chains: ['op', 'base'] });
    expect(chains.map(({ id }) => id)).toEqual([10, 8453]);
    expect(complaints(() => load(text, { chains: ['celo'] }))).toEqual([
      '--chain celo: not in the configuration, which lists 10 (op), 8453 (base), 1 (ethereum)',
    ]);
  });
});
