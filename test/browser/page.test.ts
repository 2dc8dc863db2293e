import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPages } from '../../src/http/pages.ts';
import { describeStatus } from '../../src/report/status-document.ts';
import { accessViolations, connectBrowser, openPage } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let browser: Browser;
let database: TestDatabase;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  browser = await connectBrowser();
  database = await createTestDatabase();
  const db = drizzle(database.pool);
  const app = createPages({
    db,
    status: () => describeStatus(db, { pageSize: 50, standby: null }),
    called: (command) => command,
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  close = async () => {
    await new Promise((resolve) => server.close(resolve));
  };
});

afterAll(async () => {
  await browser?.close();
  await close?.();
  await database?.drop();
});

test.each(['light', 'dark'] as const)('nobody is kept out, %s', async (colorScheme) => {
  const { page } = await openPage(browser, url, { colorScheme });
  expect(await accessViolations(page)).toEqual([]);
});
