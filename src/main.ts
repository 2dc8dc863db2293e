import { once } from 'node:events';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { compileCacheFolder } from './compile-cache.ts';
import { packageVersion } from './package-file.ts';
import { type Context, programPrefix } from './cli/context.ts';

// Compiled code, types stripped. Node's own folder for it is shared: another user could put code there.
const cacheFolder = compileCacheFolder(homedir());
if (cacheFolder !== null) enableCompileCache(cacheFolder);

/** In ms: under npm, one Ctrl-C arrives twice, from the terminal and from npm. */
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

// A reader of the log may close it, as `grep -m1` does, or its disk may be full: the work goes on.
process.stderr.on('error', () => undefined);

const args = process.argv.slice(2);

// `--version` does not load the program.
if (args.length === 1 && ['--version', '-V'].includes(args[0] ?? '')) {
  process.stdout.write(`${packageVersion()}\n`);
} else {
  // Loaded once signals are handled: loading may take seconds, in which a SIGTERM would kill.
  const { runProgram } = await import('./cli/program.ts');
  const { lookOf } = await import('./terminal/layout.ts');
  // eslint-disable-next-line no-process-env -- handed on to config/, the only reader
  const { env } = process;

  process.exitCode = await runProgram(args, {
    env,
    cwd: process.cwd(),
    signal: stop.signal,
    ...openStdout(),
    yieldTerminal: () => void (isYielded = true),
    // Node's own listener writes text, which breaks a log of JSON lines.
    onWarning: (listener) => void process.removeAllListeners('warning').on('warning', listener),
    stderr: (text) => void process.stderr.write(text),
    out: lookOf(process.stdout, env),
    err: lookOf(process.stderr, env),
    program: programPrefix(env),
  });
}

/** The process's stdout; it can write more than fits into memory. Its reader may close it, as `head` does. */
function openStdout(): Pick<Context, 'stdout' | 'drained'> {
  const { stdout, stderr } = process;
  let isClosed = false;
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    isClosed = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
    // A command that has written ends with its own exit code.
    if (isClosed) return;
    stderr.write(`explorer-etl: stdout can't be written to: ${message}\n`);
    process.exit(1);
  });
  return {
    stdout: (text) => void stdout.write(text),
    drained: async (signal) => {
      signal.throwIfAborted();
      const failed = (error: unknown) => {
        if (!isClosed) throw error;
      };
      if (stdout.writableNeedDrain) await once(stdout, 'drain', { signal }).catch(failed);
      // What is left has no reader.
      if (isClosed) process.exit(0);
    },
  };
}
