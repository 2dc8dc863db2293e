import { spawn } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Child, emptyFolder, eventually } from '../harness/process.ts';
import { freePort } from '../harness/ports.ts';
import { alteredRules, deploy } from './rules.ts';

/** A Prometheus that runs until the running test ends. */
export interface Prometheus {
  /** Names of the alerts that fire now. */
  firing(): Promise<ReadonlySet<string>>;
}

/** Starts one that scrapes this address each second, by the configuration that users have. */
export async function startPrometheus(target: string): Promise<Prometheus> {
  const folder = await emptyFolder();
  const config = (await readFile(join(deploy, 'prometheus.yaml'), 'utf8'))
    .replaceAll('interval: 15s', 'interval: 1s')
    .replace('127.0.0.1:4400', target);
  await writeFile(join(folder, 'prometheus.yaml'), config);
  await writeFile(join(folder, 'alerts.yaml'), await alteredRules());
  await copyFile(join(deploy, 'alerts.test.yaml'), join(folder, 'alerts.test.yaml'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    'prometheus',
    [
      '--config.file=prometheus.yaml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const running = new Child(child);
  await eventually('Prometheus is ready', async () => {
    if (!running.isRunning) throw new Error(running.output);
    const answer = await fetch(`${url}/-/ready`).catch(() => null);
    return answer?.ok;
  });
  return {
    async firing() {
      const answer = await fetch(`${url}/api/v1/alerts`);
      const { data } = (await answer.json()) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] };
      };
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return new Set(firing.map(({ labels }) => labels.alertname));
    },
  };
}
