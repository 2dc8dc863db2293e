import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of the bytes between the program and Postgres. */
export type ProxyMode =
  /** They pass. */
  | 'open'
  /** New connections are closed at once; those that stand go on. */
  | 'refuse'
  /**
   * Half-open: connections stand and are accepted, and nothing that is said arrives. Those that met
   * it stay so, whatever comes.
   */
  | 'swallow';

/** A TCP proxy in front of a Postgres, which breaks as asked. */
export interface DatabaseProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  readonly connections: number;
  set(mode: ProxyMode): void;
  /** Resets every connection. @returns how many */
  cutAll(): number;
  /** Resets the connection to the server that comes from this port, as pg_stat_activity names it. */
  cut(clientPort: number): boolean;
  close(): Promise<void>;
}

interface Link {
  isDead: boolean;
  readonly client: Socket;
  readonly server: Socket;
}

/** Opens a proxy on a port of its own. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const links = new Set<Link>();
  let mode: ProxyMode = 'open';
  const reset = (link: Link) => {
    links.delete(link);
    link.client.resetAndDestroy();
    link.server.resetAndDestroy();
  };
  const listener = createServer((client) => {
    client.on('error', () => undefined);
    if (mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const server = connect(Number(target.port || 5432), target.hostname);
    const link: Link = { client, server, isDead: mode === 'swallow' };
    links.add(link);
    server.on('error', () => undefined);
    // Read and dropped while it swallows: what was said is lost for good, as on a dead route.
    client.on('data', (bytes) => !link.isDead && server.write(bytes));
    server.on('data', (bytes) => !link.isDead && client.write(bytes));
    // One who hangs up is not heard either.
    client.on('close', () => !link.isDead && reset(link));
    server.on('close', () => !link.isDead && reset(link));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  const cutAll = () => {
    const cut = [...links];
    for (const link of cut) reset(link);
    return cut.length;
  };
  return {
    url: url.href,
    get connections() {
      return links.size;
    },
    set(wanted) {
      mode = wanted;
      for (const link of links) link.isDead ||= wanted === 'swallow';
    },
    cutAll,
    cut(clientPort) {
      const link = [...links].find(({ server }) => server.localPort === clientPort);
      if (link !== undefined) reset(link);
      return link !== undefined;
    },
    async close() {
      cutAll();
      listener.close();
      await once(listener, 'close');
    },
  };
}
