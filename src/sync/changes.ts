import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../db/transaction.ts';
import { feedName, feedShape } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { settingsShape } from '../lists/list.ts';
import { duration } from '../terminal/numbers.ts';
import { dropRuns } from './runs.ts';
import type { z } from 'zod';

/** Other settings of a feed than it had. */
export const changedFeedShape = () =>
  feedShape().extend({ before: settingsShape(), after: settingsShape() });
export type ChangedFeed = Readonly<z.infer<ReturnType<typeof changedFeedShape>>>;

/** Ends the open runs of what a feed's file wanted, and wants no more. Those of a command's bounds go on. */
export async function dropOutdated(tx: Transaction, changed: ChangedFeed): Promise<void> {
  const { chain_id, operation, before, after } = changed;
  const kind = kindOf(operation);
  const wanted = kind.lanes(after, {});
  for (const { lane, scope } of kind.lanes(before, {})) {
    const kept = wanted.find((one) => one.lane === lane);
    if (isDeepStrictEqual(kept?.scope, scope)) continue;
    await dropRuns(tx, { chain_id, operation, lane }, scope);
  }
}

/** What changed, with both values. Pure. */
export function changeText({ before, after, ...feed }: ChangedFeed): string {
  const [old, now] = [before, after].map((settings) => new Map(Object.entries(settings)));
  const names = new Set([before, after].flatMap((settings) => Object.keys(settings)));
  const texts = [...names].flatMap((name) => {
    const [own, other] = [now?.get(name), old?.get(name)];
    return isDeepStrictEqual(own, other) ? [] : [differenceText(name, own, other)];
  });
  return `${feedName(feed)}: ${texts.join(', ')}`;
}

/** A setting as a file writes it: the program keeps `overlap: 30s` as `overlapMs: 30000`. Pure. */
export const differenceText = (name: string, own: unknown, other: unknown): string =>
  `${nameInFile(name)} ${valueInFile(name, own)} instead of ${valueInFile(name, other)}`;

const nameInFile = (name: string) =>
  name.replace(/Ms$/u, '').replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);

function valueInFile(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'unset';
  if (typeof value === 'number' && /^freshness$|Ms$/u.test(name)) return duration(value / 1000);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((own) => valueInFile('', own)).join(', ')}]`;
  const parts = Object.entries(value).map(
    ([key, own]) => `${nameInFile(key)}: ${valueInFile(key, own)}`,
  );
  return `{ ${parts.join(', ')} }`;
}
