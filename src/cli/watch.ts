import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import type { Context } from './context.ts';
import { asCalled } from './called.ts';

/** How often a screen is drawn anew, in ms. */
const redrawMs = 2_000;

/** Draws a text over the one before it, every two seconds, until the signal aborts. */
export async function watch(context: Context, draw: () => Promise<string>): Promise<void> {
  const { signal, out, program } = context;
  const screen = new Writable({
    write(chunk, _encoding, done) {
      context.stdout(String(chunk));
      done();
    },
  });
  const update = createLogUpdate(Object.assign(screen, { columns: out.columns, isTTY: true }), {
    showCursor: true,
  });
  while (!signal.aborted) {
    const text = await draw();
    if (signal.aborted) break;
    update(asCalled(text, program).trimEnd());
    await delay(redrawMs, undefined, { signal }).catch(() => undefined);
  }
  update.done();
}
