#!/usr/bin/env -S node --max-semi-space-size=16
// Plain JavaScript that runs on an old Node too: the program needs a newer one than many machines
// have, and the package brings it for Linux (docs/decisions/0002-node-for-users.md).
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The first major version that has all that the program and its dependencies use. */
const neededMajor = 24;
/**
 * What is young is soon garbage here: a page's objects. Node takes up to a hundred megabytes for them
 * before it looks; sixteen cost no more time.
 */
const flags = ['--max-semi-space-size=16'];
/** Exit code of wrong use, as everywhere in the program. */
const wrongUse = 2;

const program = new URL('../dist/main.js', import.meta.url);
const platform = `${process.platform}-${process.arch}`;
const brought = findBroughtNode();

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  await import(program.href);
} else if (brought === null) {
  refuse(`the package brings none for ${platform}, or optional dependencies were left out`);
} else {
  runWith(brought);
}

function findBroughtNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${platform}/package.json`);
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.node);
  } catch {
    return null;
  }
}

/** Becomes the program as far as a parent process can: its streams, its signals, its exit code. */
function runWith(node) {
  const child = spawn(node, [...flags, fileURLToPath(program), ...process.argv.slice(2)], {
    stdio: 'inherit',
    // A process group of its own: a Ctrl-C in a terminal reaches this process alone, which hands it
    // on once. A second one could meet the program while it ends, when nothing catches it any more.
    detached: true,
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on('error', (error) =>
    refuse(`the one that the package brings does not run here (${error.code})`),
  );
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

function refuse(reason) {
  process.stderr.write(
    `explorer-etl needs Node ${neededMajor} or newer; this is ${process.version}, and ${reason}. ` +
      `Install Node ${neededMajor} (https://nodejs.org) and run the command again.\n`,
  );
  process.exitCode = wrongUse;
}
