import { spawn } from 'node:child_process';
import { parseUrl } from '../db/timeouts.ts';
import {
  exitCodes,
  UsageError,
  type Context,
  type ExitCode,
  type GlobalOptions,
} from './context.ts';
import { settingsOf } from './setup.ts';
import { existing } from './existing.ts';
import { onDatabase } from './on-database.ts';

/** What psql, its pager and its editor need, and nothing that may hold a key. */
const handedOn =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|NO_COLOR|LANG|LC_\w+|TZ|TMPDIR|PAGER|LESS\w*|EDITOR|VISUAL|PSQL\w*|PG\w+|XDG_\w+)$/u;

/**
 * Opens psql in the database of the settings and waits for its end. The password goes by its environment,
 * which other users of the machine can't see.
 *
 * @returns done where psql ends with 0
 * @throws UsageError where psql is not installed
 */
export async function psql(
  context: Context,
  options: GlobalOptions & { readonly demo?: boolean },
  args: readonly string[],
): Promise<ExitCode> {
  if (options.json) {
    throw new UsageError('stdout belongs to psql here, so there is no --json: use query --json.');
  }
  const settings = settingsOf(context, options, 'database');
  const place = await existing(context, settings, options);
  // psql itself says whether it is a standby, and its users may write.
  return onDatabase(settings, place, 'reads', async (database) => {
    const { url, password } = withoutPassword(forLibpq(database.url));
    const code = await run(context, [url, ...args], password);
    if (code === null) throw new UsageError(notInstalled(database.embedded !== null));
    return code === 0 ? exitCodes.done : exitCodes.failed;
  });
}

/**
 * A URL with what only node-postgres knows in the words of libpq, which refuses what it does not know.
 * Both know all else that it may hold.
 */
export function forLibpq(url: string): string {
  const address = parseUrl(url);
  const { searchParams } = address;
  const ssl = searchParams.get('ssl');
  if (searchParams.get('sslmode') === 'no-verify') searchParams.set('sslmode', 'require');
  if (/^(?:1|true)$/u.test(ssl ?? '') && !searchParams.has('sslmode')) {
    searchParams.set('sslmode', 'require');
  }
  for (const own of ['ssl', 'uselibpqcompat']) searchParams.delete(own);
  return address.href;
}

/** A URL of Postgres for those who must not see the password, and the password. */
export function withoutPassword(url: string): {
  readonly url: string;
  readonly password: string | null;
} {
  const address = parseUrl(url);
  const asked = address.searchParams.get('password');
  const password = asked ?? (address.password === '' ? null : decodeURIComponent(address.password));
  if (password === null) return { url, password };
  address.password = '';
  address.searchParams.delete('password');
  return { url: address.href, password };
}

/** Its exit code; null where there is no psql. */
function run(
  { env, cwd, signal, yieldTerminal }: Context,
  args: readonly string[],
  password: string | null,
): Promise<number | null> {
  const own = Object.entries(env).filter(([name]) => handedOn.test(name));
  const child = spawn('psql', [...args], {
    cwd,
    stdio: 'inherit',
    env: { ...Object.fromEntries(own), ...(password !== null && { PGPASSWORD: password }) },
    signal,
    killSignal: 'SIGTERM',
  });
  // A Ctrl-C in psql cancels its statement.
  yieldTerminal?.();
  return new Promise((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve(null);
      // One that was told to end is waited for.
      else if (!signal.aborted) reject(error);
    });
    child.once('close', (code) => {
      if (signal.aborted) reject(signal.reason as Error);
      else resolve(code ?? 1);
    });
  });
}

const notInstalled = (isEmbedded: boolean) =>
  [
    'psql is not installed.',
    '  Install it:  apt install postgresql-client (Debian, Ubuntu), brew install libpq (macOS), https://www.postgresql.org/download/',
    '  Without it:  explorer-etl query --list, explorer-etl query "select …"',
    isEmbedded
      ? '  With another program:  explorer-etl db start, then the address that explorer-etl db url prints'
      : '  With another program:  the address that you gave as DATABASE_URL or --database-url',
  ].join('\n');
