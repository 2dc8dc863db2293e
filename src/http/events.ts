import { createHash } from 'node:crypto';
import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { StatusDocument } from '../documents/status.ts';
import type { Snapshots } from './snapshots.ts';

/** So many pages are kept up to date at once; the others are told to come again. */
const mostStreams = 32;
/** Seconds. */
const comeAgain = 30;
/** A silent connection is cut by what is in between, in ms. */
const heartbeatMs = 15_000;

/** Members of the document that are others at each look, whatever happens. */
const passing = /^as_of$|^(?:.*_)?(?:age|lag|quiet|ends_in)_s$/u;

/** The same for two looks between which only time has passed. */
export const factsOf = (status: StatusDocument): string =>
  createHash('sha256')
    .update(JSON.stringify(status, (key, value: unknown) => (passing.test(key) ? null : value)))
    .digest('base64url')
    .slice(0, 16);

/** Server-sent events: `changed` whenever all was looked at anew, with the verdict, and what tells whether there is news. */
export function createEvents(snapshots: Snapshots, signal: AbortSignal): Handler {
  let open = 0;
  return (context) => {
    // It has no body, so nothing would ever end it.
    if (context.req.method === 'HEAD') {
      return context.body(null, 200, { 'content-type': 'text/event-stream' });
    }
    if (signal.aborted || open >= mostStreams) {
      return context.text('Too many pages are open.\n', 503, { 'retry-after': String(comeAgain) });
    }
    open += 1;
    return streamSSE(context, async (stream) => {
      const ended = Promise.withResolvers<void>();
      const send = (event: string, data: string) =>
        void stream.writeSSE({ event, data }).catch(() => ended.resolve());
      const unsubscribe = snapshots.subscribe((status) => {
        const { as_of, verdict } = status;
        send('changed', JSON.stringify({ as_of, verdict: verdict.kind, facts: factsOf(status) }));
      });
      const heartbeat = setInterval(() => send('heartbeat', ''), heartbeatMs);
      const end = () => ended.resolve();
      signal.addEventListener('abort', end, { once: true });
      stream.onAbort(end);
      try {
        await ended.promise;
      } finally {
        open -= 1;
        unsubscribe();
        clearInterval(heartbeat);
        signal.removeEventListener('abort', end);
      }
    });
  };
}
