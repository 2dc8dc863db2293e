import { WriteStream } from 'node:tty';
import { plainLook, type Look } from '../terminal/look.ts';
import { OutputClosedError, type Context } from './context.ts';

/** The process's stdout; it can write more than fits into memory. */
export function openStdout(): Pick<Context, 'stdout' | 'drained'> {
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
          // Other errors end the process.
          else if (isClosed(error)) reject(new OutputClosedError('stdout is closed'));
        });
      }),
  };
}

/** The reader closed the pipe, now or earlier. */
const isClosed = ({ code }: NodeJS.ErrnoException) =>
  code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/**
 * What a stream is drawn on. Node decides on colour by `FORCE_COLOR`, `NO_COLOR` and `TERM`
 * (https://nodejs.org/docs/latest-v24.x/api/tty.html#writestreamgetcolordepthenv).
 */
export function lookOf({ isTTY, columns }: Stream, env: NodeJS.ProcessEnv): Look {
  // Redrawing needs a known width and a cursor that moves.
  const isTerminal = isTTY && columns > 0 && env.TERM !== 'dumb';
  const mayColour = isTTY || env.FORCE_COLOR !== undefined;
  return {
    isTerminal,
    columns: isTTY && columns > 0 ? columns : plainLook.columns,
    isColoured: mayColour && WriteStream.prototype.getColorDepth(env) > 1,
  };
}
