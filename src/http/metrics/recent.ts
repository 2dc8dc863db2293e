import { setTimeout as delay } from 'node:timers/promises';

/** What a scrape waits for news before it tells what was told last, in ms: a scrape is to take less than 20. */
const promptMs = 5;
/** How old that may be, in ms: scrapes that are further apart wait. */
const recentMs = 60_000;
/** What a scrape waits at all, in ms: Prometheus gives up after 10 s, and then it has nothing of the process either. */
const longestMs = 5_000;

/**
 * Tells what is read, or what was read last where that takes longer than a scrape may: the next one tells the
 * news then.
 *
 * @param fallback what is told where nothing comes
 */
export function recent<Value>(
  read: () => Promise<Value>,
  fallback: Value,
  now: () => number,
): () => Promise<Value> {
  let last: { readonly value: Value; readonly atMs: number } | null = null;
  let coming: Promise<Value> | null = null;
  const readOn = () =>
    read()
      .catch(() => fallback)
      .then((value) => {
        last = { value, atMs: now() };
        coming = null;
        return value;
      });
  return async () => {
    // One reading at a time, however slow it is and however many ask.
    const news = (coming ??= readOn());
    const isRecent = last !== null && now() - last.atMs < recentMs;
    const ms = isRecent ? promptMs : longestMs;
    // What came meanwhile, also where it was asked for before.
    return within(news, ms, () => (isRecent ? (last?.value ?? fallback) : fallback));
  };
}

/** What comes in time, or else that. */
async function within<Value>(
  coming: Promise<Value>,
  ms: number,
  other: () => Value,
): Promise<Value> {
  const came = new AbortController();
  try {
    const late = delay(ms, undefined, { signal: came.signal }).then(other);
    late.catch(() => undefined);
    return await Promise.race([coming, late]);
  } finally {
    came.abort();
  }
}
