import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { withClient } from './client.ts';
import { freePort } from './ports.ts';
import { Child, emptyFolder, eventually } from './process.ts';

/** The URL of a database that is reached through a port of this machine. */
function throughPort(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

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

interface Link {
  isDead: boolean;
  readonly client: Socket;
  readonly server: Socket;
}

/** Opens a TCP proxy in front of a Postgres, which breaks as requested, until the running test ends. */
export async function openDatabaseProxy(databaseUrl: string) {
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
  const cutAll = () => {
    const cut = [...links];
    for (const link of cut) reset(link);
    return cut.length;
  };
  const close = async () => {
    cutAll();
    if (!listener.listening) return;
    listener.close();
    await once(listener, 'close');
  };
  onTestFinished(close);
  return {
    /** The database's URL, through the proxy. */
    url: throughPort(databaseUrl, (listener.address() as AddressInfo).port),
    get connections() {
      return links.size;
    },
    set(wanted: ProxyMode) {
      mode = wanted;
      for (const link of links) link.isDead ||= wanted === 'swallow';
    },
    /** Resets every connection. @returns how many */
    cutAll,
    /** Resets the connection to the server that comes from this port, as pg_stat_activity names it. */
    cut(clientPort: number): boolean {
      const link = [...links].find(({ server }) => server.localPort === clientPort);
      if (link !== undefined) reset(link);
      return link !== undefined;
    },
    close,
  };
}

export type DatabaseProxy = Awaited<ReturnType<typeof openDatabaseProxy>>;

const tlsFile = (name: string) => join(import.meta.dirname, 'tls', name);
/** The certificate of `openTlsProxy`, for localhost, which only itself has signed. */
export const tlsCertificate = tlsFile('server.pem');

/** Opens a port that speaks TLS to clients that request it, in front of a Postgres, until the running test ends. @returns its URL */
export async function openTlsProxy(databaseUrl: string, host = 'localhost'): Promise<string> {
  const target = new URL(databaseUrl);
  const [key, cert] = [readFileSync(tlsFile('server.key')), readFileSync(tlsCertificate)];
  const sockets = new Set<Socket>();
  const listener = createServer((raw) => {
    sockets.add(raw);
    raw.on('error', () => undefined);
    // A client begins with a request for TLS.
    raw.once('data', () => {
      raw.write('S');
      const client = new TLSSocket(raw, { isServer: true, key, cert });
      const server = connect(Number(target.port || 5432), target.hostname);
      for (const end of [client, server]) end.on('error', () => raw.destroy());
      client.pipe(server).pipe(client);
    });
  });
  listener.listen(0, 'localhost');
  await once(listener, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const url = new URL(throughPort(databaseUrl, (listener.address() as AddressInfo).port));
  url.hostname = host;
  return url.href;
}

/** `unprivileged` on Linux: like Postgres, PgBouncer refuses to run as root. */
const unprivileged = 65534;

/** The version of the PgBouncer that is installed, such as `1.25`; null where there is none. */
export function poolerVersion(): string | null {
  try {
    const said = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' });
    return /PgBouncer (\d+\.\d+)/u.exec(said)?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Starts a PgBouncer as it comes, but for `settings`. It ends with the running test.
 *
 * @param databaseUrl whose server it leads to
 */
export async function startPooler(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>,
) {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const folder = await emptyFolder();
  // As root, another user has to read it.
  await chmod(folder, 0o755);
  const port = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    ...settings,
  };
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} ${login}`,
    '[pgbouncer]',
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users'), `"${decodeURIComponent(username)}" ""\n`, { mode: 0o644 });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  const account = process.geteuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {};
  const options = { ...account, cwd: '/', stdio: 'ignore' } as const;
  const pooler = new Child(spawn('pgbouncer', ['--quiet', file], options));
  /** A database's URL, through it. */
  const through = (url: string) => throughPort(url, port);
  await eventually('the pooler to answer', async () => {
    if (!pooler.isRunning) throw new Error('PgBouncer did not start');
    return withClient(through(databaseUrl), (client) => client.query('select 1')).catch(() => null);
  });
  return { through };
}
