import { availableParallelism, cpus, totalmem, type } from 'node:os';
import { withClient } from './server.ts';

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
