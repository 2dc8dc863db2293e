import { addAbortListener } from 'node:events';

/** A controller that aborts with its parents too, until it is disposed of. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * Links a new abort controller to longer-lived signals. Unlike `AbortSignal.any` it lets go of
 * them when disposed of: a worker's signal outlives hundreds of thousands of walks, and each
 * composite signal would stay in its memory.
 */
export function linkAbort(...parents: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const links = parents.map((parent) =>
    addAbortListener(parent, () => controller.abort(parent.reason)),
  );
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]() {
      for (const link of links) link[Symbol.dispose]();
    },
  };
}
