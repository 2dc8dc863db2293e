import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import type { Look } from '../terminal/look.ts';
import type { Context } from './context.ts';
import { asCalled } from './called.ts';

/** How often the screen is redrawn, in ms. */
const redrawMs = 2_000;
/** Reading the status takes a twentieth of a core at most. */
const restPerRead = 20;
/** Lines of the smallest terminal. */
const leastRows = 24;

/** Draws a text over the one before it, every two seconds, until the signal aborts. */
export async function watch(
  context: Context,
  draw: (look: Look) => Promise<string>,
): Promise<void> {
  const { signal, program } = context;
  const screen = new Writable({
    write(chunk, _encoding, done) {
      context.stdout(String(chunk));
      done();
    },
  });
  // The terminal may be resized meanwhile.
  const size = () => context.size?.() ?? { columns: context.out.columns, rows: leastRows };
  const terminal = Object.defineProperties(Object.assign(screen, { isTTY: true }), {
    columns: { get: () => size().columns },
    rows: { get: () => size().rows },
  });
  const update = createLogUpdate(terminal as typeof terminal & NodeJS.WriteStream, {
    showCursor: true,
  });
  while (!signal.aborted) {
    const begun = performance.now();
    const text = await draw({ ...context.out, columns: size().columns });
    if (signal.aborted) break;
    // The overall state comes first: what does not fit is cut at the bottom.
    const lines = asCalled(text, program, context.isDemo).trimEnd().split('\n');
    update(lines.slice(0, Math.max(1, size().rows - 1)).join('\n'));
    const restMs = Math.max(redrawMs, restPerRead * (performance.now() - begun));
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
  update.done();
}
