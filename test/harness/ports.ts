import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems give ports above these to connections that go out: one that is free now is soon taken. */
const [lowest, highest] = [10_000, 32_000];
const mostTries = 100;

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(lowest, highest);
    const server = createServer().listen({ port, host: '127.0.0.1' });
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`none of ${mostTries} ports is free`);
}
