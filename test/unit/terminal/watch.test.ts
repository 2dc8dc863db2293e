import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { openScreen } from '../../../src/cli/screen.ts';
import { plainOutput } from '../../harness/process.ts';
import { paint } from '../../../src/terminal/layout.ts';
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

test('a screen draws the colours of the program, and escapes control characters of other text', async () => {
  const terminal = Object.assign(new PassThrough(), { columns: 80, rows: 3 });
  const look = { ...usual, isColoured: true };
  const screen = await openScreen({ err: look, stderr: () => undefined }, ['\u001b[2J'], terminal);
  screen.lines([`${paint(look, 'bad', 'failing')} \u001b[31m\u009b2J\u202e`]);
  const written = String(terminal.read());
  expect(written).toContain('\u001b[31mfailing\u001b[39m');
  expect(written).toContain(String.raw`\u001b[31m\u009b2J\u202e`);
  expect(written).toContain(String.raw`\u001b[2J`);
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
