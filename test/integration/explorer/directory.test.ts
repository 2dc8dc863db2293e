import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDirectory } from '../../../src/explorer/directory.ts';
import { answered, plainChain, simulated, testKey } from '../../harness/explorer.ts';
import { call, configFolder, emptyFolder, expectOneMessage } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';

const { signal } = new AbortController();

/** What is read of a directory with this answer. */
const read = async (answer: Awaited<ReturnType<Parameters<typeof answered>[0]>>) =>
  readDirectory({ baseUrl: await answered(() => answer), proxy: null }, signal);

/** An explorer whose directory has these websites. */
const withSites = async (directory: Readonly<Record<string, unknown>>) =>
  (await simulated({ seed: 1, chains: [plainChain], directory })).url;

test('the directory is requested without a key, below the path of base_url', async () => {
  const seen: string[] = [];
  const url = await answered(({ pathname, search }) => {
    seen.push(pathname + search);
    return { body: { chains: { 690: 'https://explorer.redstone.xyz/' } } };
  });
  const env = {
    EXPLORER_BASE_URL: `${url}/gateway/`,
    EXPLORER_API_KEY: testKey,
    EXPLORER_SECRET_KEY: 'a-secret-key',
  };
  expect(await call(['init', '--chain', 'redstone'], { env })).toMatchObject({ code: 0 });
  expect(seen).toEqual(['/gateway/api/json/config']);
});

test('a chain is named by the host of its website, and entries of other forms are left out', async () => {
  const chains = {
    690: 'https://explorer.redstone.xyz/some/path?query',
    919: 'https://sepolia.explorer.mode.network',
    1313: 'https://10.0.0.1/',
    '-1': 'https://minus.example',
    x: 'https://letters.example',
    '99999999999999999999': 'https://huge.example',
    5: 'javascript:alert(1)',
    6: null,
    7: { url: 'https://object.example' },
    8: `https://${'long.'.repeat(100)}example`,
  };
  expect(await read({ body: { chains, endpoint_pricing: { default: 20 } } })).toEqual([
    { id: 690, name: 'redstone', explorerUrl: 'https://explorer.redstone.xyz' },
    { id: 919, name: 'mode-sepolia', explorerUrl: 'https://sepolia.explorer.mode.network' },
    { id: 1313, name: 'chain-1313', explorerUrl: 'https://10.0.0.1' },
  ]);
});

test.each([
  ['a refusal', { status: 404, body: { error: 'Not found' } }],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example' }, body: '' }],
  ['a page of HTML', { body: '<html></html>' }],
  ['a list', { body: [] }],
  ['no chains', { body: { chains: [1, 10] } }],
  ['more than a MB', { body: { chains: { 10: 'https://a.example' }, more: 'x'.repeat(2 ** 20) } }],
  ['cut JSON', { body: '{"chains": {"10": "https://a.ex' }],
])('of %s no chain is read', async (_, answer) => {
  expect(await read(answer)).toEqual([]);
});

test('no answer in time is none', async () => {
  const baseUrl = await answered(() => new Promise(() => undefined));
  expect(await readDirectory({ baseUrl, proxy: null }, signal, 50)).toEqual([]);
});

/** What `init` writes for these flags, and how it ends. */
async function init(url: string, ...args: readonly string[]) {
  const cwd = await emptyFolder();
  const ended = await call(['init', ...args], { cwd, env: { EXPLORER_BASE_URL: url } });
  const file = await readFile(join(cwd, 'explorer-etl.yaml'), 'utf8').catch(() => null);
  return { ...ended, file };
}

test('init finds a chain by its name in the directory, and keeps what it has in the file', async () => {
  const url = await withSites({ 10: 'https://explorer.optimism.io', 690: 'https://null.xyz' });
  const { code, stdout, stderr, file } = await init(url, '--chain', 'null', '--chain', 'optimism');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('null (690), optimism (10)');
  expect(file).toContain('- id: 690\n    name: "null"\n    explorer_url: https://null.xyz\n');
  expect(file).toContain('- id: 10\n    name: optimism\n    operations:\n');
});

test('a name that the directory has for two chains is refused, with a number of one', async () => {
  const url = await withSites({ 7: 'https://abc.example', 8: 'https://abc.blockscout.com' });
  expectOneMessage(
    await init(url, '--chain', 'abc'),
    /--chain abc: several chains have this name; take the number, such as 7/u,
  );
});

test('init warns of a chain that the directory lacks, whatever this program knows', async () => {
  const url = await withSites({ 690: 'https://explorer.redstone.xyz' });
  const { code, stderr } = await init(url, '--chain', 'zksync');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("Not in the explorer's directory: chain 324."),
  });
});

test('init refuses a directory that has a known name for another chain, and writes nothing', async () => {
  const url = await withSites({ 10: 'https://base.blockscout.com', 11: 'https://www.celo.org' });
  for (const [flag, message] of [
    ['base', /Chain 10 is named base, which is chain 8453\./u],
    ['optimism', /Chain 10 is named base, which is chain 8453\./u],
    ['celo', /Chain 11 is named celo, which is chain 42220\./u],
  ] as const) {
    const { file, ...ended } = await init(url, '--chain', flag);
    expectOneMessage(ended, message);
    expect(file).toBeNull();
  }
  expect(await init(url, '--chain', 'celo-sepolia')).toMatchObject({ code: 2 });
});

test('check refuses a chain under the name of another, known or of the directory', async () => {
  const database = await freshDatabase('empty');
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: await withSites({ 690: 'https://explorer.redstone.xyz' }),
    EXPLORER_API_KEY: testKey,
  };
  const check = async (id: number, name: string, ...args: readonly string[]) => {
    const cwd = await configFolder({ chains: [{ id, name, operations: { factories: {} } }] });
    return call(['check', ...args], { cwd, env });
  };
  expectOneMessage(await check(11, 'World Chain'), /Chain 11 is named World Chain, .* 480\./u);
  expectOneMessage(await check(11, 'optimism', '--no-requests'), /named optimism, .* chain 10\./u);
  expectOneMessage(await check(10, 'redstone'), /Chain 10 is named redstone, .* chain 690\./u);
  expect(await check(10, 'redstone', '--no-requests')).toMatchObject({ code: 0 });
  expect(await check(10, 'our rollup')).toMatchObject({ code: 0 });
});
