import { onTestFinished } from 'vitest';

/** Whether a test runs in this process; else it is a bench. */
export const isInTest = process.env['VITEST'] !== undefined;

const ends: (() => unknown)[] = [];

/** Has something end with the running test, what was opened last first; in a bench, with `withEnds`. */
export function atEnd(end: () => unknown): void {
  if (isInTest) onTestFinished(async () => void (await end()));
  else ends.push(end);
}

/** Runs a bench, and ends what it has opened. */
export async function withEnds<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } finally {
    for (const end of ends.splice(0).toReversed()) await end();
  }
}
