import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** The connection each process holds from start to release: proof of use that its death ends. */
const leaseName = 'explorer-etl lease';
/** What all names of our sessions begin with. */
const ours = 'explorer-etl';

/** Postgres lists a closed connection for a moment longer; in milliseconds. */
const farewellMs = 1_000;
const farewellPollMs = 25;

/** That this process uses a server. */
export interface Lease {
  readonly client: Client;
  /** Its process on the server. */
  readonly pid: number;
}

/** Connects to the server for as long as this process uses it. */
export async function takeLease(url: string): Promise<Lease> {
  const client = new Client({
    connectionString: url,
    application_name: `${leaseName} of process ${process.pid}`,
    keepAlive: true,
  });
  // A server that stops ends the lease; whoever queries it next hears of that.
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, pid: rows[0]?.pid ?? 0 };
}

/**
 * Who else is connected to a server, by name: our processes by their numbers, other programs as they call
 * themselves. Those who have just left may take a second to be gone.
 *
 * @param endedPid a session that has ended
 */
export async function usersOf(url: string, endedPid = 0): Promise<readonly string[]> {
  const observer = await takeLease(url);
  try {
    const deadlineMs = performance.now() + farewellMs;
    for (;;) {
      const { rows } = await observer.client.query<{ name: string }>(
        `select distinct application_name as name from pg_stat_activity
          where backend_type = 'client backend' and pid not in (pg_backend_pid(), $1)
          order by name`,
        [endedPid],
      );
      const names = rows.map(({ name }) => name);
      const leases = names.filter((name) => name.startsWith(leaseName));
      if (names.length === 0) return [];
      if (leases.length > 0 || performance.now() > deadlineMs) return spell(names, leases);
      await sleep(farewellPollMs);
    }
  } finally {
    await observer.client.end();
  }
}

/** A process that holds a lease has sessions under other names too, which are not told. */
function spell(names: readonly string[], leases: readonly string[]): string[] {
  const others = names.filter((name) => !name.startsWith(ours) || leases.length === 0);
  return [
    ...leases.map((name) => name.replace(`${leaseName} of`, ours)),
    ...others.map((name) => (name === '' ? 'a program without a name' : name)),
  ];
}
