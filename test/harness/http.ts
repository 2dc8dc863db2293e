import { request, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { Hono } from 'hono';
import { createMetrics } from '../../src/http/metrics.ts';
import { startHttp, type HttpOptions, type HttpServer } from '../../src/http/server.ts';
import type { StatusDocument } from '../../src/status/schema.ts';
import { statusOrOutage } from '../../src/status/status.ts';

/** A page over a database, or over none, for whoever is on this machine. */
export async function startPage(
  url: string | null,
  options: Partial<HttpOptions> = {},
): Promise<HttpServer> {
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    metricsAddress: null,
    token: null,
    hosts: [],
    status: (pool) => statusOrOutage(pool, 50),
    assets: async () =>
      new Map([
        ['/', { type: 'text/html; charset=utf-8', body: '<!doctype html><title>page</title>' }],
        [
          '/app.js',
          { type: 'text/javascript; charset=utf-8', body: `/* ${'x'.repeat(10_000)} */` },
        ],
      ]),
    works: false,
    version: '1.2.3',
    commandLine: (command) => command,
    now: () => performance.now(),
    ...options,
  });
  if (url !== null) server.use(url);
  return server;
}

/** As `startPage`; it ends with the running test. */
export async function servedPage(...sent: Parameters<typeof startPage>): Promise<HttpServer> {
  const server = await startPage(...sent);
  onTestFinished(() => server.close());
  return server;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Requested {
  readonly method?: string;
  /** Sent as they are, Host too, which fetch() would not. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request, its path sent as it is written. */
export async function ask(
  { address: { port } }: Pick<HttpServer, 'address'>,
  path: string,
  { method = 'GET', headers = {}, body }: Requested = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, resolve);
  sent.on('error', reject);
  sent.end(body);
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await readText(answer) };
}

/** What is scraped from this process until the running test ends. */
export function observing(status: () => Promise<StatusDocument | null>) {
  const metrics = createMetrics(status, '1.2.3');
  onTestFinished(() => metrics.close());
  const app = new Hono().get('/metrics', metrics.handler);
  return {
    scrape: async () => {
      const families = scraped(await (await app.request('/metrics')).text());
      const all = (name: string) =>
        [...families.values()]
          .flatMap(({ samples }) => samples)
          .filter((one) => one.name === name || one.name.startsWith(`${name}_bucket`));
      const of = (name: string, labels: Readonly<Record<string, string>> = {}) =>
        all(name).find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
      return { families, all, of };
    },
  };
}

/** A sample of a scrape. */
export interface Scraped {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A family of a scrape: what is said of it, and its samples. */
export interface Family {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Scraped[];
}

const sampleLine =
  /^(?<name>[a-z_:][\w:]*)(?:\{(?<labels>(?:[a-z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (?<value>[+-]?(?:\d[\d.]*(?:e[+-]?\d+)?|Inf)|NaN)$/iu;
const labelPart = /(?<name>[a-z_]\w*)="(?<value>(?:[^"\\\n]|\\["\\n])*)"/giu;

/**
 * The families of an answer to a scrape, by Prometheus' text format 0.0.4.
 *
 * @throws at the first line that the format does not know, at a family or a sample that comes twice, at a
 *   sample without a family, and where the last line does not end
 */
export function scraped(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, Family & { readonly samples: Scraped[] }>();
  const seen = new Set<string>();
  let help: readonly string[] = [];
  let open = '';
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const told = /^# (?<what>HELP|TYPE) (?<name>[\w:]+) (?<rest>.+)$/u.exec(line)?.groups;
    if (told?.['what'] === 'HELP') help = [told['name'] ?? '', told['rest'] ?? ''];
    else if (told?.['what'] === 'TYPE') {
      open = told['name'] ?? '';
      if (help[0] !== open || families.has(open))
        throw new Error(`no help, or told twice: ${line}`);
      families.set(open, { help: help[1] ?? '', type: told['rest'] ?? '', samples: [] });
    } else {
      const parts = sampleLine.exec(line)?.groups;
      if (parts === undefined) throw new Error(`no line of the format: ${line}`);
      const { name = '', labels = '', value = '' } = parts;
      const family = families.get(open);
      if (family === undefined || !namesOf(open, family.type).includes(name)) {
        throw new Error(`a sample of no family: ${line}`);
      }
      const key = `${name}{${labels}}`;
      if (seen.has(key)) throw new Error(`twice: ${key}`);
      seen.add(key);
      family.samples.push({ name, labels: labelsOf(labels), value: numberOf(value) });
    }
  }
  return families;
}

const namesOf = (family: string, type: string): readonly string[] =>
  type === 'histogram' || type === 'summary'
    ? [family, `${family}_bucket`, `${family}_sum`, `${family}_count`]
    : [family];

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(labelPart)].map(({ groups }) => [
      groups?.['name'] ?? '',
      (groups?.['value'] ?? '').replaceAll(/\\(?<one>["\\n])/gu, (_, one: string) =>
        one === 'n' ? '\n' : one,
      ),
    ]),
  );

const numberOf = (text: string): number =>
  text.endsWith('Inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
