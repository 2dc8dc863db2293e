import { onTestFinished } from 'vitest';
import {
  startSimulator,
  type SimulatedChain,
  type SimulatorOptions,
} from '../../simulator/index.ts';
import { answering, lyingAbout, type Answer } from './answers.ts';
import { testKey } from './sync.ts';

type Json = Record<string, unknown>;

/** A page as an explorer serves it, to be changed in place or replaced. */
export interface ServedPage {
  items: Json[];
  next_page_params: Json | null;
}

/** As `answering`, until the running test ends. */
export async function answered(...requested: Parameters<typeof answering>): Promise<string> {
  const service = await answering(...requested);
  onTestFinished(() => service.close());
  return service.url;
}

/** Stands before an explorer until the running test ends; each page goes through a function. */
async function standBefore(
  trueUrl: string,
  onRequest: () => void,
  alter: (page: ServedPage, url: URL) => unknown,
): Promise<string> {
  const service = await lyingAbout(trueUrl, (url, honest) => {
    onRequest();
    if (honest.status !== 200) return honest;
    return { body: alter(JSON.parse(String(honest.body)) as ServedPage, url) };
  });
  onTestFinished(() => service.close());
  return service.url;
}

export interface AlteredExplorer {
  readonly url: string;
  /** Requests so far. */
  readonly requests: number;
  /** What becomes of each page of an operation from now on; the URL's path tells which it is. */
  alter: (page: ServedPage, path: string, url: URL) => unknown;
}

/** A simulated explorer whose answers go through a function of the test. */
export async function alterExplorer(
  seed: number,
  chain: SimulatedChain,
  options: Partial<SimulatorOptions> = {},
): Promise<AlteredExplorer> {
  const simulator = await startSimulator({ seed, chains: [chain], apiKey: testKey, ...options });
  onTestFinished(() => simulator.close());
  const altered = {
    url: '',
    requests: 0,
    alter: ((page) => page) as AlteredExplorer['alter'],
  };
  altered.url = await standBefore(
    simulator.url,
    () => (altered.requests += 1),
    (page, url) => altered.alter(page, url.pathname, url),
  );
  return altered;
}

/** Answers of another explorer, with one of them changed. */
export interface LyingExplorer {
  readonly url: string;
  /** Requests since it was read last. */
  takeRequests(): number;
  /**
   * The nth request from now on is answered with what this makes of the true answer, and then the
   * truth again.
   */
  lieOnce(nth: number, lie: (page: ServedPage) => unknown): void;
  /**
   * Every answer that this makes another one of is a lie from now on; the token is null at the head. Null
   * leaves an answer as it is.
   */
  lie: (page: ServedPage, token: string | null) => unknown;
}

/** Stands before an explorer and lies when it is told to. */
export async function lieBefore(trueUrl: string): Promise<LyingExplorer> {
  let until = Infinity;
  let lieOnce = (page: ServedPage): unknown => page;
  const requests = counted();
  const service = { url: '', lie: (() => null) as LyingExplorer['lie'] };
  const onRequest = () => {
    requests.count();
    until -= 1;
  };
  service.url = await standBefore(trueUrl, onRequest, (page, url) => {
    const token = url.searchParams.get('page_token');
    return (until === 0 ? lieOnce(page) : service.lie(page, token)) ?? page;
  });
  return Object.assign(service, {
    takeRequests: requests.take,
    lieOnce(nth: number, told: (page: ServedPage) => unknown) {
      until = nth;
      lieOnce = told;
    },
  });
}

/** Counts requests from one look to the next. */
export function counted() {
  let requests = 0;
  return {
    count: (): void => void (requests += 1),
    take: (): number => {
      const seen = requests;
      requests = 0;
      return seen;
    },
  };
}

/** A service that is none: each of its answers repeats the request's URL, key and all. */
export function startEcho(status: number, body: (url: string) => string): Promise<string> {
  return answered(({ pathname, search }): Answer => {
    const requested = pathname + search;
    const text = body(`${requested} ${decodeURIComponent(requested.replaceAll('+', ' '))}`);
    return { status, headers: { 'x-echo': 'x' }, body: text };
  });
}
