import { addAbortListener } from 'node:events';

/** What the walkers of one slice tell each other: that something was read which may leave a walk to begin. */
export interface News {
  /** Whether somebody waits for news. */
  readonly isAwaited: boolean;
  /** Notes that a walk is worked on, until it is disposed of; who waits may find another one to begin. */
  work(): Disposable;
  /** Wakes one of those who wait: it wakes the next where it found something to do. */
  tell(): void;
  /**
   * Waits for news.
   *
   * @returns false where nobody is at work who could bring any, or the signal aborts
   */
  wait(signal: AbortSignal): Promise<boolean>;
}

export function openNews(): News {
  const waiting = new Set<PromiseWithResolvers<boolean>>();
  let working = 0;
  const wake = (all: boolean) => {
    for (const waiter of waiting) {
      waiting.delete(waiter);
      waiter.resolve(true);
      if (!all) return;
    }
  };
  return {
    get isAwaited() {
      return waiting.size > 0;
    },
    work() {
      working += 1;
      wake(false);
      return {
        [Symbol.dispose]() {
          working -= 1;
          wake(working === 0);
        },
      };
    },
    tell: () => wake(false),
    async wait(signal) {
      if (working === 0 || signal.aborted) return false;
      const waiter = Promise.withResolvers<boolean>();
      waiting.add(waiter);
      using _listening = addAbortListener(signal, () => waiter.resolve(false));
      return await waiter.promise.finally(() => waiting.delete(waiter));
    },
  };
}
