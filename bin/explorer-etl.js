#!/usr/bin/env -S node --max-semi-space-size=8
import { existsSync } from 'node:fs';

// What is young is soon garbage here: a page's objects. Node takes up to a hundred megabytes for them
// before it collects; three times eight cost no more time.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`explorer-etl needs Node 24 or newer; this is ${process.version}.\n`);
  process.exitCode = 2;
} else {
  // In a clone the sources run as they are.
  const sources = new URL('../src/main.ts', import.meta.url);
  await import(existsSync(sources) ? sources.href : '../dist/main.js');
}
