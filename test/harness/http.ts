import { request, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { Hono } from 'hono';
import { createMetrics } from '../../src/http/metrics.ts';
import { startHttp, type HttpOptions, type HttpServer } from '../../src/http/server.ts';
import type { StatusDocument } from '../../src/status/schema.ts';
import { statusOrOutage } from '../../src/status/status.ts';

/** A page over a database, or over none, for programs on this machine, until the running test ends. */
export async function servedPage(
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
    version: '1.2.3',
    commandLine: (command) => command,
    now: () => performance.now(),
    ...options,
  });
  onTestFinished(() => server.close());
  if (url !== null) server.use(url);
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

/** A family of a scrape: what is said of it, and its samples. */
interface Family {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ReturnType<typeof sampleOf>[];
}

const familyBlock =
  /^# HELP (?<name>\w+) (?<help>[^\n]+)\n# TYPE \k<name> (?<type>\w+)\n(?<lines>(?:[^\n]*\n)*)$/u;
const sampleLine =
  /^(?<name>\w+)(?:\{(?<labels>(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (?<value>[+-]?(?:\d[\d.]*(?:e[+-]?\d+)?|Inf)|NaN)$/iu;

/**
 * The families of an answer to a scrape, by Prometheus' text format 0.0.4.
 *
 * @throws at what the format does not know, at a family or a sample that comes twice, and at a sample of another family
 */
export function scraped(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  for (const block of text.split(/^(?=# HELP )/mu)) {
    const { name = '', help = '', type = '', lines = '' } = familyBlock.exec(block)?.groups ?? {};
    if (name === '' || families.has(name)) throw new Error(`no family, or one again: ${block}`);
    const texts = lines.split('\n').filter((line) => line !== '');
    const series = new Set(texts.map((line) => line.slice(0, line.lastIndexOf(' '))));
    if (series.size < texts.length) throw new Error(`a sample comes twice: ${block}`);
    families.set(name, { help, type, samples: texts.map((line) => sampleOf(name, line)) });
  }
  return families;
}

function sampleOf(family: string, line: string) {
  const { name = '', labels = '', value = '' } = sampleLine.exec(line)?.groups ?? {};
  const names = ['', '_bucket', '_sum', '_count'].map((suffix) => family + suffix);
  if (!names.includes(name)) throw new Error(`no sample of ${family}: ${line}`);
  // Values of labels are escaped as in JSON.
  const members = labels.replace(/,$/u, '').replaceAll(/(\w+)=(?=")/gu, '"$1":');
  return {
    name,
    labels: JSON.parse(`{${members}}`) as Readonly<Record<string, string>>,
    value: Number(value.replace('Inf', 'Infinity')),
  };
}
