import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What users have. */
export const deploy = join(import.meta.dirname, '../../deploy/prometheus');

/** All times of the rules are so many times shorter. */
const faster = 60;
/** What a small archive is above, in bytes. */
const archiveBytes = 1_000;

/** The rules as users have them, but for their times, and the size that an archive may have. */
export async function alteredRules(): Promise<string> {
  const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
  const shorten = (amount: string, unit: string) =>
    `${Math.max(1, Math.round((Number(amount) * (unitSeconds[unit] ?? 0)) / faster))}s`;
  const text = await readFile(join(deploy, 'alerts.yaml'), 'utf8');
  return text
    .replaceAll(/for: (\d+)([smh])$/gmu, (_, amount, unit) => `for: ${shorten(amount, unit)}`)
    .replaceAll(/\[(\d+)([smh])\]/gu, (_, amount, unit) => `[${shorten(amount, unit)}]`)
    .replace('> 20e9', `> ${archiveBytes}`);
}
