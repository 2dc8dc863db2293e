import { OutputClosedError, type Context } from './context.ts';

/** The process's stdout for commands, also for those that write more than fits into memory. */
export function openStdout(): Pick<Context, 'stdout' | 'drained' | 'columns'> {
  const { stdout, stderr } = process;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) return;
    stderr.write(`explorer-etl: stdout can't be written to: ${error.message}\n`);
    process.exit(1);
  });
  return {
    stdout: (text) => void stdout.write(text),
    drained: () =>
      new Promise((resolve, reject) => {
        stdout.write('', (error?: NodeJS.ErrnoException | null) => {
          if (error === null || error === undefined) resolve();
          // Any other error ends the process.
          else if (isClosed(error)) reject(new OutputClosedError('stdout is closed'));
        });
      }),
    ...(stdout.isTTY && { columns: stdout.columns }),
  };
}

/** The reader is gone, found out now or earlier. */
const isClosed = ({ code }: NodeJS.ErrnoException) =>
  code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
