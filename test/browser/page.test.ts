import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spellAddress } from '../../src/http/address.ts';
import { startHttp, type HttpServer } from '../../src/http/server.ts';
import { accessViolations, connectBrowser, openPage } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let browser: Browser;
let database: TestDatabase;
let url: string;
let server: HttpServer;

beforeAll(async () => {
  browser = await connectBrowser();
  database = await createTestDatabase();
  server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    metricsAddress: null,
    token: null,
    hosts: [],
    pageSize: 50,
    works: false,
    called: (command) => command,
    now: () => performance.now(),
  });
  server.use({ url: database.url, directUrl: null });
  url = `http://${spellAddress(server.address)}/`;
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await database?.drop();
});

test.each(['light', 'dark'] as const)('nobody is kept out, %s', async (colorScheme) => {
  const { page } = await openPage(browser, url, { colorScheme });
  expect(await accessViolations(page)).toEqual([]);
});
