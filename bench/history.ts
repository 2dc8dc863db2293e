/**
 * `npm run bench:history [-- --pages 2000 --rate 30 --runs 1]`: how much of a key's rate the history of one
 * feed uses behind a slow service, with one walk and with as many as pay, as the service counts. Exit
 * code 1 when a request was refused or something is missing.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { startSimulator } from '../simulator/index.ts';
import { interruptSignal } from './interrupt.ts';
import { describeMachine } from './machine.ts';
import { withClient, withServer, type Server } from './server.ts';
import { measureSync } from './sync.ts';
import { apiKey, chainOf, pageSize, seed } from './world.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '30' },
    latencies: { type: 'string', default: '50,250' },
  },
});
const pages = Number(values.pages);
const rate = Number(values.rate);
const latencies = values.latencies.split(',').map(Number);
const signal = interruptSignal();

interface History {
  readonly seconds: number;
  readonly requests: number;
  readonly refused: number;
  readonly busiestSecond: number;
  readonly walks: number;
  readonly walksAtOnce: number;
}

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  const table = new Table({
    head: [
      'round trip',
      'walks',
      's',
      'of the rate',
      'requests',
      'more than pages',
      '429',
      'busiest second',
    ],
    style: { head: [], border: [] },
  });
  for (const latencyMs of latencies) {
    const { seconds, requests, refused, busiestSecond, walks } = await measure(server, latencyMs);
    table.push([
      `${latencyMs} ms`,
      walks,
      seconds.toFixed(1),
      `${((100 * pages) / seconds / rate).toFixed(1)} %`,
      requests,
      `${((100 * (requests - pages)) / pages).toFixed(2)} %`,
      refused,
      busiestSecond,
    ]);
    if (refused > 0) process.exitCode = 1;
  }
  console.log(table.toString());
});

async function measure(server: Server, latencyMs: number): Promise<Omit<History, 'walksAtOnce'>> {
  const seen: { readonly at: number; readonly status: number }[] = [];
  const simulator = await startSimulator({
    seed,
    chains: [chainOf(pages)],
    apiKey,
    latencyMs,
    gzip: false,
    limits: () => ({ requestsPerSecond: rate }),
    onRequest: ({ status }) => void seen.push({ at: performance.now(), status }),
  });
  try {
    return await server.withDatabase(async (databaseUrl) => {
      const { dataDirectory } = server;
      const input = {
        databaseUrl,
        dataDirectory,
        explorerUrl: simulator.url,
        requestsPerSecond: rate,
      };
      await measureSync({ ...input, memoryAtPages: [] }, signal);
      const walks = await withClient(databaseUrl, async (client) => {
        const { rows } = await client.query<{ rows: number; gaps: number; walks: number }>(`
          select (select count(*)::int from explorer.user_operations) as rows,
                 (select count(*)::int from explorer.gaps) as gaps,
                 (select count(*)::int from etl.walks) as walks
        `);
        if (rows[0]?.rows !== pages * pageSize || rows[0].gaps > 0) {
          throw new Error(`something is missing: ${JSON.stringify(rows[0])}`);
        }
        return rows[0].walks;
      });
      return {
        seconds: ((seen.at(-1)?.at ?? 0) - (seen[0]?.at ?? 0)) / 1000,
        requests: seen.length,
        refused: seen.filter(({ status }) => status !== 200).length,
        busiestSecond: simulator.busiestSecond,
        walks,
      };
    });
  } finally {
    await simulator.close();
  }
}
