import { useEffect, useState } from 'preact/hooks';
import { isChanging } from '../status/lanes.ts';
import type { StatusDocument } from '../status/schema.ts';

const tokenKey = 'explorer-etl token';
export const wrongToken =
  'The token is missing or wrong. Add it to the end of this address: #token=…';

/** Moves a token from the address, `#token=…`, to this tab's storage. True: there was one. */
export function takeToken(): boolean {
  const [, token] = location.hash.split('#token=');
  if (token === undefined) return false;
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, '', location.pathname);
  return true;
}

type Params = Readonly<Record<string, string>>;

async function request(name: string, params: Params, signal: AbortSignal | null) {
  const token = sessionStorage.getItem(tokenKey);
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const query = new URLSearchParams(params).toString();
  const response = await fetch(name + (query && `?${query}`), { headers, signal });
  if (response.ok) return response;
  if (response.status === 401) throw new Error(wrongToken);
  const refusal = (await response.json().catch(() => null)) as { readonly error?: string } | null;
  throw new Error(refusal?.error ?? `The server answered ${response.status}.`);
}

export function problemOf(error: unknown): string {
  // A proxy may answer with its own page.
  if (error instanceof SyntaxError) return 'The answer is no JSON document.';
  if (error instanceof TypeError) return 'Not connected. What is shown may be old.';
  return error instanceof Error ? error.message : String(error);
}

/** Ms until the next request; null: never. Must be a constant: changes are compared. */
type Pace<T> = (data: T | null) => number | null;

export const once = () => null;
const often = () => 5_000;
const seldom = () => 60_000;

export const paceOf = (status: StatusDocument) => (isChanging(status) ? often : seldom);

export const statusPace: Pace<StatusDocument> = (status) =>
  status === null || isChanging(status) ? 1_000 : 10_000;

/** The newest data, kept during the next request, and the last request's problem. */
export interface Answer<T> {
  readonly data: T | null;
  readonly problem: string | null;
}

/** Polls a JSON document; a hidden page pauses until it is visible. */
export function useJson<T>(name: string, params: Params, pace: Pace<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ data: null, problem: null });
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    let isDue = true;
    const turn = async () => {
      isDue = document.hidden;
      if (isDue) return;
      const next = await request(name, params, stop.signal)
        .then(async (response) => ({ data: (await response.json()) as T, problem: null }))
        .catch((error: unknown) => ({ data: null, problem: problemOf(error) }));
      if (stop.signal.aborted) return;
      setAnswer(({ data }) => ({ ...next, data: next.data ?? data }));
      const waitMs = pace(next.data);
      if (waitMs !== null) timer = window.setTimeout(() => void turn(), waitMs);
    };
    document.addEventListener('visibilitychange', () => isDue && void turn(), stop);
    void turn();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [name, JSON.stringify(params), pace]);
  return answer;
}

/** Saves an answer as a file: a link cannot send the token. */
export async function download(name: string, params: Params, file: string) {
  const response = await request(name, params, null);
  const href = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement('a'), { href, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(href), 3_000);
}
