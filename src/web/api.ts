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

type Params = Readonly<Record<string, string>>;

const noAnswer = (kind: Problem['kind'], sentence: string): Problem => ({ kind, sentence });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The whole of an answer, or why there is none. */
async function request(name: string, params: Params, signal: AbortSignal | null) {
  const token = sessionStorage.getItem(tokenKey);
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const query = new URLSearchParams(params).toString();
  const answer = await fetch(name + (query && `?${query}`), { headers, signal }).catch(() => null);
  const body = (await answer?.blob().catch(() => null)) ?? null;
  if (answer === null || body === null) {
    return noAnswer('unreachable', 'Not connected. What is shown may be old.');
  }
  if (answer.ok) return body;
  if (answer.status === 401) return noAnswer('token', 'The token is missing or wrong.');
  const refusal = parse(await body.text()) as { readonly error?: string } | null;
  return noAnswer('refused', refusal?.error ?? `The server answered ${answer.status}.`);
}

/** The newest answer, which stays while the next one is on its way. */
export interface Answer<T> {
  readonly data: T | null;
  readonly problem: Problem | null;
}

/**
 * Reads a document at once, and again after as many ms as `onAnswer` returns, until that is null. A hidden page
 * requests nothing; it is up to date as soon as it is seen.
 */
function follow<T>(name: string, params: Params, onAnswer: (next: Answer<T>) => number | null) {
  const stop = new AbortController();
  let timer = 0;
  let isDue = true;
  const turn = async () => {
    isDue = document.hidden;
    if (isDue) return;
    const body = await request(name, params, stop.signal);
    const data = 'kind' in body ? null : (parse(await body.text()) as T | null);
    // A proxy may answer with a page of its own.
    const problem = data === null ? noAnswer('refused', 'The answer is no JSON document.') : null;
    const waitMs = stop.signal.aborted
      ? null
      : onAnswer({ data, problem: 'kind' in body ? body : problem });
    if (waitMs !== null) timer = window.setTimeout(() => void turn(), waitMs);
  };
  document.addEventListener('visibilitychange', () => isDue && void turn(), stop);
  void turn();
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
export const followStatus = (onAnswer: (next: Answer<StatusDocument>) => void): (() => void) =>
  follow<StatusDocument>('status.json', {}, (next) => {
    onAnswer(next);
    if (next.data === null) return retryMs;
    return isRunning(next.data) ? runningMs : restingMs;
  });

/** A JSON document, requested again every so many ms; null: once. */
export function useJson<T>(name: string, params: Params, everyMs: number | null): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ data: null, problem: null });
  useEffect(
    () =>
      follow<T>(name, params, ({ data, problem }) => {
        setAnswer((last) => ({ data: data ?? last.data, problem }));
        return everyMs;
      }),
    [name, JSON.stringify(params), everyMs],
  );
  return answer;
}

/** Saves an answer as a file, or returns why not: a link alone could not carry the token. */
export async function download(name: string, params: Params, file: string) {
  const body = await request(name, params, null);
  if ('kind' in body) return body;
  const url = URL.createObjectURL(body);
  Object.assign(document.createElement('a'), { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), retryMs);
  return null;
}
