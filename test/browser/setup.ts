import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of this run listens. */
    browserEndpoint: string;
  }
}

/** Where browsers are that can be driven, on systems for which npm has none. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** One browser for all files, of the npm package where that has one for this system. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'explorer-etl-browser-'));
  const before = process.env['TMPDIR'];
  // The package unpacks into it, also where another run does the same now.
  process.env['TMPDIR'] = directory;
  const server = await chromium
    .launchServer({ ...(await findBrowser()), headless: true })
    .finally(() => {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    });
  project.provide('browserEndpoint', server.wsEndpoint());
  return async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  };
}

/** Its sandbox refuses root, and containers; what is shown is our own. */
async function findBrowser(): Promise<{ executablePath: string; args: string[] }> {
  const named = process.env['TEST_BROWSER'];
  if (named !== undefined && named !== '') return { executablePath: named, args: ['--no-sandbox'] };
  if (process.platform === 'linux' && process.arch === 'x64') {
    return { executablePath: await sparticuz.executablePath(), args: ['--no-sandbox'] };
  }
  for (const path of installed) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return { executablePath: path, args: [] };
  }
  throw new Error(
    'The tests of the page need Chromium or Chrome: install one, or name it in TEST_BROWSER.',
  );
}
