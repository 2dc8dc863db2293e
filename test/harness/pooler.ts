import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { hangMs } from './hang.ts';
import { freePort } from './port.ts';
import { eventually } from './process.ts';

/** `nobody` on Linux: like Postgres, PgBouncer refuses to run as root. */
const nobody = 65534;

/** The version of the PgBouncer that is installed, such as `1.25`; null where there is none. */
export function poolerVersion(): string | null {
  try {
    const said = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' });
    return /PgBouncer (\d+\.\d+)/u.exec(said)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** What `max_prepared_statements` can be told: it came with 1.21 as 0, and is 200 since 1.24. */
export function namesKept(): readonly Readonly<Record<string, number>>[] {
  const minor = Number(poolerVersion()?.split('.')[1] ?? 0);
  return minor < 21 ? [{}] : [{ max_prepared_statements: 0 }, { max_prepared_statements: 200 }];
}

/** A PgBouncer in front of the run's Postgres. */
export interface Pooler {
  /** A database's URL, through it. */
  through(databaseUrl: string): string;
}

/**
 * Starts a PgBouncer as it comes, but for `settings`. It ends with the running test.
 *
 * @param databaseUrl whose server it leads to
 */
export async function startPooler(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const folder = await mkdtemp(inject('directoryPrefix'));
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
  const account = process.geteuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const child = spawn('pgbouncer', ['--quiet', file], { ...account, cwd: '/', stdio: 'ignore' });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const through = (url: string) => {
    const pooled = new URL(url);
    pooled.hostname = '127.0.0.1';
    pooled.port = String(port);
    return pooled.href;
  };
  await eventually('the pooler to answer', hangMs, () => answers(through(databaseUrl)));
  return { through };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
