import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../test/harness/client.ts';

/** What the figures were measured on. */
export async function describeMachine(serverUrl: string): Promise<string> {
  const settings = await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, current_setting(name) as setting
         from unnest(array['server_version', 'fsync', 'synchronous_commit']) as name`,
    );
    return new Map(rows.map(({ name, setting }) => [name, setting]));
  });
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return [
    `${availableParallelism()} cores (${model}), ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${type()}`,
    `Node ${process.versions.node}, Postgres ${settings.get('server_version')} (embedded, fsync ${settings.get('fsync')}, synchronous_commit ${settings.get('synchronous_commit')})`,
    'The program, Postgres and the simulated explorer share these cores.',
  ].join('\n');
}

/** Linux counts processor time in ticks of USER_HZ, a hundredth of a second everywhere; in ms. */
const tickMs = 10;

/** Fields of /proc/PID/stat after the name, which may hold spaces (proc(5); state is the first). */
const field = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const;

/**
 * Processor time that a cluster has used so far, in ms: the postmaster, its processes, and those
 * that have ended, which the system adds to the postmaster's. Null where there is no /proc.
 */
export function clusterCpuMs(dataDirectory: string): number | null {
  if (process.platform !== 'linux') return null;
  const [line] = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
  const postmaster = Number(line);
  const own = statOf(String(postmaster));
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat[field.parent] === postmaster);
  const ended = sum([own], [field.childrenUser, field.childrenSystem]);
  return tickMs * (ended + sum([own, ...children], [field.user, field.system]));
}

/** The numbers of a process's stat line; none when it has ended meanwhile. */
function statOf(pid: string): readonly number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

const sum = (stats: readonly (readonly number[])[], fields: readonly number[]) =>
  stats.flatMap((stat) => fields.map((at) => stat[at] ?? 0)).reduce((a, b) => a + b, 0);

/** Processor time that a piece of work takes beside what an idle server does in the same time, in ms. */
export async function cpuOf(dataDirectory: string, work: () => Promise<unknown>) {
  const before = { node: process.cpuUsage(), postgres: clusterCpuMs(dataDirectory) ?? 0 };
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(before.node);
  const postgres = (clusterCpuMs(dataDirectory) ?? 0) - before.postgres;
  return { ms, node: (user + system) / 1_000, postgres };
}
