import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { openEngine, prepareDatabase } from '../../../src/app.ts';
import { createLog } from '../../../src/log.ts';
import { freshDatabase, opened } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { eventually } from '../../harness/process.ts';
import { settingsFor, smallChain } from '../../harness/sync.ts';
import { operations } from '../../../src/lists/registry.ts';

const chain = smallChain({ factories: 20 });

/** A simulated explorer that keeps connections for as long as its clients do, and may hold an answer. */
async function patientExplorer() {
  const simulator = await startSimulator({ seed: 5, chains: [chain] });
  let held: Promise<void> = Promise.resolve();
  let requested = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requested += 1;
    const served = await fetch(new URL(request.url ?? '/', simulator.url));
    const body = await served.text();
    await held;
    response.setHeader('content-type', 'application/json').end(body);
  };
  const server = createServer(
    { keepAliveTimeout: 600_000 },
    (request, response) => void answer(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await simulator.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: promisify(server.getConnections.bind(server)),
    requested: () => requested,
    hold: (until: Promise<void>) => void (held = until),
  };
}

async function openScene() {
  const explorer = await patientExplorer();
  const database = opened(await freshDatabase());
  await prepareDatabase(database);
  const settings = settingsFor({ url: explorer.url, chains: [chain] });
  const log = createLog('silent', () => undefined);
  const engine = await openEngine({ settings, database, log, supervise: false });
  onTestFinished(() => engine.close());
  const fetchPage = () =>
    engine.fetchPage(
      {
        chainId: chain.id,
        operation: 'factories',
        lane: 'backfill',
        ...operations.factories.request({}, null, 50),
      },
      new AbortController().signal,
    );
  return { explorer, fetchPage, reload: () => engine.reconfigure(settings) };
}

test('a page under way while the configuration is read again comes, and its connection goes', async () => {
  const { explorer, fetchPage, reload } = await openScene();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  explorer.hold(promise);
  const page = fetchPage();
  await eventually('the request', async () => explorer.requested() === 1);
  await reload();
  resolve(undefined);
  expect((await page).json).toMatchObject({ items: expect.any(Array) });
  await fetchPage();
  await expect.poll(() => explorer.connections(), { timeout: hangMs }).toBe(1);
});
