import { runProgram } from './cli/program.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // A second signal means now.
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new Error(name));
  });
}

process.exitCode = await runProgram(process.argv.slice(2), {
  // eslint-disable-next-line no-process-env -- handed on to config/, the only reader
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
});
