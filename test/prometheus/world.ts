import { expect } from 'vitest';
import {
  type Fault,
  type Limits,
  type Motion,
  type SimulatedChain,
} from '../../simulator/index.ts';
import { openFault, type FaultName } from '../harness/hostile-faults.ts';
import { simulated } from '../harness/explorer.ts';
import { freePort } from '../harness/ports.ts';
import { openDatabaseProxy } from '../harness/servers.ts';
import { freshDatabase } from '../harness/database.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { startPrometheus, type Prometheus } from './server.ts';
import { shortChain } from '../harness/sync.ts';

/** What has not fired by then never will, in ms: schedules fire once a minute, a key is tested each five. */
const boundMs = 1_800_000;

/** What a test may ask for beside a `start` over a short list that is polled each minute. */
interface AlertWorldOptions {
  readonly chain?: Partial<SimulatedChain>;
  readonly motion?: Motion;
  /** Of the section `explorer`. */
  readonly explorer?: object;
  /** What the first answers are; the true ones if absent. */
  readonly fault?: FaultName;
  /** The command that serves the metrics; `start` if absent. */
  readonly serving?: 'start' | 'open';
}

/**
 * Opens the program, what it reads from and writes to, and a Prometheus that scrapes it; nothing was read yet. All
 * of it ends with the running test.
 */
export async function openAlertWorld(options: AlertWorldOptions = {}) {
  const begun = performance.now();
  const clock = () => performance.now() - begun;
  const { motion, serving = 'start' } = options;
  let fault: Fault | null = options.fault === undefined ? null : openFault(options.fault);
  let limits: Limits = {};
  // Its newest items are of the last hours, as those of a live chain are.
  const startsAtMs = Date.now() - 3_600_000;
  const described = { ...shortChain, startsAtMs, ...options.chain };
  const simulator = await simulated({
    seed: 5,
    chains: [motion === undefined ? described : { ...described, motion }],
    clock,
    faults: () => fault,
    limits: () => limits,
  });
  const { pool, url } = await freshDatabase();
  const proxy = await openDatabaseProxy(url);
  const address = `127.0.0.1:${await freePort()}`;
  const cwd = await configFolder({
    explorer: options.explorer ?? {},
    chains: [
      { id: 10, operations: { 'user-operations': { schedule: '* * * * *', freshness: '90s' } } },
    ],
  });
  const start = (args: readonly string[]) =>
    startProgram(args, { databaseUrl: proxy.url, explorerUrl: simulator.url, cwd });
  const server =
    serving === 'start'
      ? start(['start', '--http', address])
      : start(['open', '--no-browser', '--http', address]);
  const prometheus = await startPrometheus(address);
  const note = noteTaker(clock);
  const { expectFiring, expectResolved, expectQuiet } = watch(prometheus, note);
  /** Waits until all is read and verified, and none fires. */
  const expectHealthy = async () => {
    await eventually(
      'all is verified',
      async () => {
        const answer = await fetch(`http://${address}/metrics`).catch(() => null);
        return (await answer?.text())?.includes('explorer_etl_overall_state{state="healthy"} 1');
      },
      { boundMs },
    );
    await expectQuiet();
    note('all is well');
  };
  return {
    pool,
    proxy,
    server,
    start,
    /** What each answer of the explorer is from now on; null: the true one. */
    setFault: (next: FaultName | Fault | null) => {
      fault = typeof next === 'string' ? openFault(next) : next;
      note(next === null ? 'the answers are true' : 'the answers are wrong');
    },
    /** What the key may do from now on. */
    setLimits: (next: Limits) => {
      limits = next;
      note(`the key may do ${JSON.stringify(next)}`);
    },
    expectFiring,
    expectResolved,
    expectQuiet,
    expectHealthy,
  };
}

/** Prints what happens in the running test, and when. */
function noteTaker(clock: () => number) {
  const { currentTestName = '' } = expect.getState();
  return (what: string) =>
    void process.stdout.write(`${currentTestName} · ${(clock() / 1000).toFixed(0)} s: ${what}\n`);
}

function watch(prometheus: Prometheus, note: (what: string) => void) {
  let before: ReadonlySet<string> = new Set();
  const firing = async () => {
    const now = await prometheus.firing();
    for (const name of now.difference(before)) note(`${name} fires`);
    for (const name of before.difference(now)) note(`${name} resolves`);
    before = now;
    return now;
  };
  return {
    expectFiring: async (alert: string) =>
      void (await eventually(`${alert} fires`, async () => (await firing()).has(alert), {
        boundMs,
      })),
    /** Waits until it does not fire, and does that meanwhile. */
    expectResolved: async (alert: string, fix?: () => Promise<unknown>) =>
      void (await eventually(
        `${alert} resolves`,
        async () => {
          await fix?.();
          return !(await firing()).has(alert);
        },
        { boundMs },
      )),
    expectQuiet: async () =>
      void (await eventually('all is quiet', async () => (await firing()).size === 0, { boundMs })),
  };
}
