import { enableCompileCache } from 'node:module';
import { performance } from 'node:perf_hooks';
import { programPrefix } from './cli/command-line.ts';
import { lookOf, openStdout } from './cli/stdout.ts';
import { packageVersion } from './package-file.ts';

// Compiled code, with its types stripped, is cached below the system's temporary folder.
enableCompileCache();

/** One Ctrl-C under npm comes twice at once, from the terminal and handed on by npm. In ms. */
const echoMs = 500;

const stop = new AbortController();
let stoppedAt = 0;
let isYielded = false;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (isYielded && name === 'SIGINT') return;
    const isAgain = stop.signal.aborted;
    // A second signal means now.
    if (isAgain && performance.now() - stoppedAt > echoMs) process.exit(130);
    if (isAgain) return;
    stoppedAt = performance.now();
    stop.abort(new Error(name));
  });
}

const args = process.argv.slice(2);

/** A SIGHUP that came before `start` listens is handed on once it does; unheard, it would end the process. */
let isReloadOwed = false;
const oweReload = () => void (isReloadOwed = true);
if (args.includes('start')) process.on('SIGHUP', oweReload);

// The version alone is printed without loading the program.
if (args.length === 1 && ['--version', '-V'].includes(args[0] ?? '')) {
  process.stdout.write(`${packageVersion()}\n`);
} else {
  // Loaded once signals are handled: on a busy machine that takes seconds, in which a SIGTERM would kill.
  const { runProgram } = await import('./cli/program.ts');
  // eslint-disable-next-line no-process-env -- handed on to config/, the only reader
  const { env } = process;

  process.exitCode = await runProgram(args, {
    env,
    cwd: process.cwd(),
    signal: stop.signal,
    // Only who listens outlives a SIGHUP: for other commands it means that the terminal is gone.
    onReload: (listener) => {
      process.on('SIGHUP', listener);
      process.off('SIGHUP', oweReload);
      if (isReloadOwed) listener();
    },
    ...openStdout(),
    yieldTerminal: () => void (isYielded = true),
    stderr: (text) => void process.stderr.write(text),
    out: lookOf(process.stdout, env),
    err: lookOf(process.stderr, env),
    program: programPrefix(env),
  });
}
