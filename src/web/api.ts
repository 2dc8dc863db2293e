import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';

const tokenKey = 'explorer-etl token';

/** Takes a token out of the address, `#token=…`, and keeps it for this tab. True if there was one. */
export function takeToken(): boolean {
  const [, token] = location.hash.split('#token=');
  if (token === undefined) return false;
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, '', location.pathname);
  return true;
}

/** Why there is no answer. `token`: it is missing or wrong. `unreachable`: the program is not there. */
export interface Problem {
  readonly kind: 'token' | 'unreachable' | 'refused';
  readonly sentence: string;
}

export type Params = Readonly<Record<string, string | number>>;

/** An answer, or the problem that there is none. */
async function request(path: string, signal: AbortSignal | null): Promise<Response | Problem> {
  const token = sessionStorage.getItem(tokenKey);
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(path, { headers, signal }).catch(() => null);
  if (answer === null) {
    return { kind: 'unreachable', sentence: 'Not connected. What is shown may be old.' };
  }
  if (answer.status === 401) return { kind: 'token', sentence: 'The token is missing or wrong.' };
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => null)) as { readonly error?: string } | null;
  const sentence = body?.error ?? `The server answered ${answer.status}.`;
  return { kind: 'refused', sentence };
}

const pathOf = (name: string, params: Params): string => {
  const query = Object.entries(params).map(([key, value]) => [key, String(value)]);
  return query.length === 0 ? name : `${name}?${new URLSearchParams(query).toString()}`;
};

/**
 * Runs at once and again after as many ms as the last run returned, until it returns null. A hidden page
 * requests nothing; it is up to date as soon as it is seen.
 */
function repeat(run: (signal: AbortSignal) => Promise<number | null>): () => void {
  const stop = new AbortController();
  let timer = 0;
  let isDue = true;
  const turn = () => {
    isDue = document.hidden;
    if (isDue) return;
    void run(stop.signal).then((waitMs) => {
      if (waitMs !== null && !stop.signal.aborted) timer = window.setTimeout(turn, waitMs);
    });
  };
  document.addEventListener('visibilitychange', () => isDue && turn(), { signal: stop.signal });
  turn();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}

const runningMs = 1_000;
const restingMs = 10_000;
const retryMs = 3_000;

/** Whether anything of the document is about to change by itself. */
export const isRunning = ({ feeds }: StatusDocument): boolean =>
  feeds.some(({ lanes }) => lanes.some(({ state }) => state === 'running' || state === 'quiet'));

/** Follows the status. The only function that knows how: an event stream would take its place here. */
export function followStatus(
  onStatus: (status: StatusDocument) => void,
  onProblem: (problem: Problem) => void,
): () => void {
  return repeat(async (signal) => {
    const answer = await request('status.json', signal);
    if (signal.aborted) return null;
    if ('sentence' in answer) {
      onProblem(answer);
      return retryMs;
    }
    const status = (await answer.json()) as StatusDocument;
    onStatus(status);
    return isRunning(status) ? runningMs : restingMs;
  });
}

/** The newest answer, which stays while the next one is on its way. */
export interface Answer<T> {
  readonly data: T | null;
  readonly problem: Problem | null;
}

/** A JSON document, requested again every so many ms; null: once. */
export function useJson<T>(name: string, params: Params, everyMs: number | null): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ data: null, problem: null });
  const path = pathOf(name, params);
  useEffect(
    () =>
      repeat(async (signal) => {
        const next = await request(path, signal);
        const data = 'sentence' in next ? null : ((await next.json()) as T);
        if (signal.aborted) return null;
        setAnswer((last) =>
          data === null ? { ...last, problem: next as Problem } : { data, problem: null },
        );
        return everyMs;
      }),
    [path, everyMs],
  );
  return answer;
}

/** Saves an answer as a file, or returns why not: a link alone could not carry the token. */
export async function download(name: string, params: Params, file: string) {
  const answer = await request(pathOf(name, params), null);
  if ('sentence' in answer) return answer;
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), retryMs);
  return null;
}
