import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { openScreen } from '../../../src/cli/screen.ts';
import { plainOutput } from '../../harness/process.ts';
import { usual } from './looks.ts';

test('a screen redraws the last frame at the current width and height', async () => {
  const terminal = Object.assign(new PassThrough(), { columns: 40, rows: 3 });
  const screen = await openScreen({ err: usual, stderr: () => undefined }, [], terminal);
  const frames = [1, 2, 3].map((frame) => {
    screen.lines([`frame ${frame}`, 'feeds', 'below the screen']);
    terminal.columns += 10;
    return screen.look.columns;
  });
  const written = String(terminal.read());
  expect(frames).toEqual([50, 60, 70]);
  expect(stripVTControlCharacters(written).match(/frame \d/gu)).toHaveLength(3);
  expect(written).not.toContain('below the screen');
  // It moves up to the first line of the last frame.
  expect(written.split('\u001B[1A').length - 1).toBeGreaterThanOrEqual(2);
});

test('a terminal shows that a command is loading', async () => {
  let written = '';
  const stderr = (text: string) => void (written += text);
  const [signal, ignore] = [new AbortController().signal, () => undefined];
  const world = { ...plainOutput, err: usual, env: {}, cwd: '/', signal, stdout: ignore, stderr };
  await runProgram(['sync', '--help'], world);
  await runProgram(['sync', '--help', '--quiet'], world);
  expect(written).toBe('Loading …\r\u001B[K');
});
