import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { webAssets } from '../../src/http/assets.ts';
import { hangMs } from '../harness/process.ts';
import { answerTo, sceneOf, type Scene, type SceneName } from './scenes.ts';

const bundled = webAssets();
/** As the program sends it: nothing of another host, nothing inline. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Serves the page over documents that a test may replace. */
export interface ScenePage {
  readonly url: string;
  /** What the next requests are answered with. */
  show(scene: Partial<Scene>): void;
  close(): Promise<void>;
}

function answerOf(scene: Scene, { pathname, searchParams }: URL): object | string | null {
  const name = searchParams.get('name') ?? '';
  if (pathname === '/query.json') return answerTo(name, scene.days);
  if (pathname === '/query.csv') return `day,operations\n2026-11-24,${name}\n`;
  if (pathname === '/runs.json' && searchParams.has('feed')) {
    const isOwn = ({ feed }: { readonly feed: string }) => feed === searchParams.get('feed');
    return { ...scene.runs, runs: scene.runs.runs.filter(isOwn) };
  }
  if (pathname === '/coverage.json' && searchParams.has('from')) {
    const window = { from: Number(searchParams.get('from')), to: Number(searchParams.get('to')) };
    return { ...scene.coverage, window };
  }
  const key = pathname.replace(/^\/(?<key>\w+)\.json$/u, '$<key>');
  return (scene as unknown as Record<string, object>)[key] ?? null;
}

/**
 * Serves a scene until the running test ends.
 *
 * @param token if given, only requests that carry it are answered with data
 */
export async function servePage(name: SceneName, token?: string): Promise<ScenePage> {
  const assets = await bundled;
  let scene = sceneOf(name);
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-security-policy', policy);
    const asset = assets.get(url.pathname);
    if (asset !== undefined) return response.setHeader('content-type', asset.type).end(asset.body);
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return response.writeHead(401).end();
    }
    const answer = answerOf(scene, url);
    if (answer === null) return response.writeHead(404).end();
    const isText = typeof answer === 'string';
    response.setHeader('content-type', isText ? 'text/csv' : 'application/json');
    return response.end(isText ? answer : JSON.stringify(answer));
  };
  const server = createServer(respond).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    show: (changes) => (scene = { ...scene, ...changes }),
    close,
  };
}

/** The browser of this run. Closing it closes the pages that were opened through it. */
export const connectBrowser = (): Promise<Browser> => chromium.connect(inject('browserEndpoint'));

/** What a browser complains of while it shows a page: errors of scripts, and what the policy refuses. */
export interface OpenedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens a page in a context of its own, which ends with the running test. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** What keeps people from using the page, by axe and WCAG 2.2 AA: the rule and the element. */
export async function accessViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`),
  );
}

/** For what follows an input: a busy machine takes its time. */
export const bounded = { timeout: hangMs };

/** A browser for the tests of a file. @returns what opens the page over a state, at one of its views */
export function scenesInBrowser() {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await connectBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return async (
    name: SceneName,
    view = '/',
    options: Parameters<typeof openPage>[2] & { readonly token?: string } = {},
  ) => {
    if (browser === null) throw new Error('the browser was not opened');
    const server = await servePage(name, options.token);
    const opened = await openPage(browser, `${server.url}#${view}`, options);
    return { ...opened, server };
  };
}

/** How far what was drawn has moved since the page was opened; 0: nothing has. */
export const shifts = (page: Page) =>
  page.evaluate<number>(
    `new Promise((resolve) => new PerformanceObserver((list) =>
       resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))
     ).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => resolve(0), 300))`,
  );
