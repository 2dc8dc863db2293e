import { spawn } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hangMs } from '../support/hang.ts';
import { freePort } from '../support/port.ts';
import { eventually, watchChild } from '../support/process.ts';

const deploy = join(import.meta.dirname, '../../deploy/prometheus');

/** The rules as users have them, with all times so many times shorter. */
export async function shortenedRules(times: number): Promise<string> {
  const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
  const shorten = (amount: string, unit: string) =>
    `${Math.max(1, Math.round((Number(amount) * (unitSeconds[unit] ?? 0)) / times))}s`;
  const text = await readFile(join(deploy, 'alerts.yaml'), 'utf8');
  return text
    .replaceAll(/for: (\d+)([smh])$/gmu, (_, amount, unit) => `for: ${shorten(amount, unit)}`)
    .replaceAll(/\[(\d+)([smh])\]/gu, (_, amount, unit) => `[${shorten(amount, unit)}]`);
}

/** A Prometheus that runs until the running test ends. */
export interface Prometheus {
  /** Names of the alerts that fire now. */
  firing(): Promise<ReadonlySet<string>>;
}

/** Starts one that scrapes this address each second, by the configuration that users have. */
export async function startPrometheus(
  folder: string,
  target: string,
  rules: string,
): Promise<Prometheus> {
  const config = (await readFile(join(deploy, 'prometheus.yaml'), 'utf8'))
    .replaceAll('interval: 15s', 'interval: 1s')
    .replace('127.0.0.1:4400', target);
  await writeFile(join(folder, 'prometheus.yaml'), config);
  await writeFile(join(folder, 'alerts.yaml'), rules);
  await writeFile(join(folder, 'explorer-etl.token'), 'test-token-of-the-page');
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
  watchChild(child);
  await eventually('Prometheus is ready', hangMs, async () => {
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
