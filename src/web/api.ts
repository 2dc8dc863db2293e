import { useEffect, useState } from 'preact/hooks';
import type { StatusDocument } from '../status/schema.ts';

const tokenKey = 'explorer-etl token';
export const wrongToken = 'The token is missing or wrong.';

/** Moves a token from the address, `#token=…`, to the storage of this tab. True if there was one. */
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

/** Why a request failed, in a sentence. */
export function problemOf(error: unknown): string {
  // A proxy may answer with a page of its own.
  if (error instanceof SyntaxError) return 'The answer is no JSON document.';
  if (error instanceof TypeError) return 'Not connected. What is shown may be old.';
  return error instanceof Error ? error.message : String(error);
}

/** After how many ms a document is requested again; null: never. A constant, because paces are compared. */
type Pace<T> = (data: T | null) => number | null;

/** Whether anything of the document is about to change by itself. */
const isRunning = ({ feeds }: StatusDocument): boolean =>
  feeds.some(({ lanes }) => lanes.some(({ state }) => state === 'running' || state === 'quiet'));

export const once = () => null;
const often = () => 5_000;
const seldom = () => 60_000;

/** The pace of what changes as a worker reads. */
export const paceOf = (status: StatusDocument) => (isRunning(status) ? often : seldom);

export const statusPace: Pace<StatusDocument> = (status) =>
  status === null ? 3_000 : isRunning(status) ? 1_000 : 10_000;

/** The newest data, kept while the next request runs, and why the last request failed. */
export interface Answer<T> {
  readonly data: T | null;
  readonly problem: string | null;
}

/** Follows a JSON document. A hidden page requests nothing; it is up to date as soon as it is seen. */
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

/** Saves an answer as a file: a link alone could not carry the token. */
export async function download(name: string, params: Params, file: string) {
  const response = await request(name, params, null);
  const href = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement('a'), { href, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(href), 3_000);
}
