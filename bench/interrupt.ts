/** Aborted by SIGINT and SIGTERM: Postgres and the children must not outlive an interrupted run. */
export function interruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupted.abort(new Error('interrupted')));
  }
  return interrupted.signal;
}
