import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  openFault,
  startSimulator,
  type Fault,
  type FaultName,
  type SimulatedChain,
} from '../../src/simulator/index.ts';
import { emptyFolder } from '../support/child.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { freshDatabase } from '../support/database.ts';
import { freePort } from '../support/port.ts';
import { configFolder, eventually, startProgram } from '../support/process.ts';
import { shortenedRules, startPrometheus } from './server.ts';

const deploy = join(import.meta.dirname, '../../deploy/prometheus');

/** Times of the rules are so many times shorter. */
const faster = 60;
/** What has not fired by then never will, in ms: schedules fire once a minute, and a key is asked for again later. */
const boundMs = 1_200_000;

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};

const config = {
  chains: [
    { id: 10, operations: { 'user-operations': { schedule: '* * * * *', freshness: '90s' } } },
  ],
};

const promtool = (...args: readonly string[]) =>
  spawnSync('promtool', args, { cwd: deploy, encoding: 'utf8' });

test('promtool finds no fault with the rules, and their tests hold', async () => {
  expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  const tested = promtool('test', 'rules', 'alerts.test.yaml');
  expect(tested.stdout + tested.stderr).toContain('SUCCESS');
  expect(tested.status).toBe(0);
  const folder = await emptyFolder();
  await writeFile(join(folder, 'alerts.yaml'), await shortenedRules(faster));
  expect(promtool('check', 'rules', join(folder, 'alerts.yaml'))).toMatchObject({ status: 0 });
});

const begun = performance.now();
/** Which alert fired and resolved when: what the test shows beside that it passes. */
const note = (what: string) => {
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  process.stdout.write(`${seconds.padStart(5)} s  ${what}\n`);
};

test('while faults are switched on and off the right alerts fire and resolve', async () => {
  let fault: Fault | null = null;
  const simulator = await startSimulator({ seed: 5, chains: [chain], faults: () => fault });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const proxy = await openDatabaseProxy(database.url);
  onTestFinished(() => proxy.close());
  const address = `127.0.0.1:${await freePort()}`;
  const cwd = await configFolder(config);
  const environment = { databaseUrl: proxy.url, explorerUrl: simulator.url, cwd };
  const program = startProgram(['start', '--http', address], environment);
  await eventually('all is read', boundMs, async () => {
    const answer = await fetch(`http://${address}/metrics`).catch(() => null);
    return (await answer?.text())?.includes('explorer_etl_verdict{kind="healthy"} 1');
  });
  const prometheus = await startPrometheus(
    await emptyFolder(),
    address,
    await shortenedRules(faster),
  );
  let before: ReadonlySet<string> = new Set();
  const firing = async () => {
    const now = await prometheus.firing();
    for (const name of now) if (!before.has(name)) note(`fires: ${name}`);
    for (const name of before) if (!now.has(name)) note(`resolves: ${name}`);
    before = now;
    return now;
  };
  /** Waits until it fires, and until all is quiet once what is wrong has ended. */
  const expectAlert = async (name: string, begin: () => void, end: () => void) => {
    note(`begins: ${name}`);
    begin();
    await eventually(`${name} fires`, boundMs, async () => (await firing()).has(name), 500);
    note(`ends: ${name}`);
    end();
    await eventually('all is quiet', boundMs, async () => (await firing()).size === 0, 500);
  };
  const during = (name: FaultName) =>
    [() => void (fault = openFault(name)), () => void (fault = null)] as const;

  await eventually('all is quiet', boundMs, async () => (await firing()).size === 0, 500);
  await expectAlert(
    'ExplorerEtlDatabaseAway',
    () => {
      proxy.set('refuse');
      proxy.cutAll();
    },
    () => proxy.set('open'),
  );
  await expectAlert('ExplorerEtlFeedLate', ...during('503'));
  // Last: the key is tested again five minutes later.
  await expectAlert('ExplorerEtlKeyRefused', ...during('401'));
  note('killed');
  program.kill('SIGKILL');
  await eventually('it is down', boundMs, async () => (await firing()).has('ExplorerEtlDown'), 500);
});
