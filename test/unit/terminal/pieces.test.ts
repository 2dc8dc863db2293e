import { describe, expect, test } from 'vitest';
import { stripVTControlCharacters } from 'node:util';
import { Command } from 'commander';
import { addDemo, commandLineOf, programPrefix } from '../../../src/cli/context.ts';
import { commands } from '../../../src/cli/program.ts';
import {
  bar,
  fit,
  type Look,
  lookOf,
  mark,
  pad,
  paint,
  plainLook,
  prose,
  tableLines,
  terminalText,
  widthOf,
  wrap,
} from '../../../src/terminal/layout.ts';
import {
  brief,
  compact,
  counted,
  duration,
  gigabytes,
  percent,
  whole,
} from '../../../src/terminal/numbers.ts';

const coloured: Look = { isTerminal: true, columns: 40, isColoured: true };

describe('widths', () => {
  test('count wide characters twice and colours not at all', () => {
    expect(widthOf('批次 10')).toBe(7);
    expect(widthOf(paint(coloured, 'good', '批次'))).toBe(4);
    expect(pad('批次', 6, 'right')).toBe('  批次');
  });

  test('are kept if a text is cut at its end or in the middle', () => {
    expect(fit('批次批次批次', 6)).toBe('批次…');
    expect(fit('0x0123456789abcdef', 9)).toBe('0x01…cdef');
    expect(fit('short', 5)).toBe('short');
    expect(fit('gone', 0)).toBe('');
  });

  test('break prose between words, and leave a long word whole', () => {
    const lines = wrap('explorer-etl backfill --from-block 123 reads it', 20, 2);
    expect(lines).toEqual(['explorer-etl', '  backfill', '  --from-block 123', '  reads it']);
    expect(wrap('a-word-that-is-longer', 10)).toEqual(['a-word-that-is-longer']);
  });
});

describe('text for a terminal', () => {
  test('has the colours of the program, also in a shortened text, and no others', () => {
    const text = paint(coloured, 'good', 'ours \u001b[31mtheirs');
    expect(terminalText(text)).toBe('\u001b[32mours \\u001b[31mtheirs\u001b[39m');
    expect(terminalText(fit(paint(coloured, 'bad', 'a long text'), 7))).toBe(
      '\u001b[31ma long…\u001b[0m',
    );
    expect(widthOf(paint(coloured, 'good', 'four'))).toBe(4);
  });

  test.each([
    ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
    ['a control of 8 bits', '\u009b2J', '\\u009b2J'],
    ['text from right to left', '\u202eabc\u2066', '\\u202eabc\\u2066'],
    ['a carriage return', 'good\rbad', 'good\\u000dbad'],
    ['a bell, a tab and a backspace', '\u0007\t\b', '\\u0007\\u0009\\u0008'],
    ['other line ends than a line feed', '\u2028\u2029\u0085', '\\u2028\\u2029\\u0085'],
  ])('shows %s escaped', (_, text, shown) => {
    expect(terminalText(`a\n${text}`)).toBe(`a\n${shown}`);
    expect(tableLines(plainLook, { rows: [[`a\n${text}`]] })).toEqual([`a\\u000a${shown}`]);
    expect(prose(plainLook, `a\n${text}`)).toEqual([`a\\u000a${shown}`]);
  });
});

describe('numbers', () => {
  test('are written as people say them', () => {
    expect([whole(12_345.4), compact(12_345), gigabytes(3.44e9)]).toEqual([
      '12,345',
      '12K',
      '3.4 GB',
    ]);
    const counts = [
      counted(1, 'page'),
      counted(2, 'batch', 'batches'),
      counted(1200, 'factory', 'factories'),
    ];
    expect(counts).toEqual(['1 page', '2 batches', '1,200 factories']);
  });

  test.each([
    [null, 'unknown'],
    [0, '0ms'],
    [0.25, '250ms'],
    [3.94, '3.9s'],
    [9.99, '9.9s'],
    [59.9, '59s'],
    [60, '1m'],
    [125, '2m 5s'],
    [3_600, '1h'],
    [7_529, '2h 5m'],
    [86_400, '1d'],
    [200_000, '2d 7h'],
    [400.5 * 86_400, '1y 35d'],
    [-70, '-1m 10s'],
    [-0.5, '-500ms'],
  ])('show %s seconds in at most two units', (seconds, shown) => {
    expect(duration(seconds)).toBe(shown);
  });

  test('show an age in its largest unit, of at least a second', () => {
    expect([-3, 0.2, 59.9, 125, 200_000].map(brief)).toEqual(['1s', '1s', '59s', '2m', '2d']);
  });

  test('show nearly 100 % as less than 100 %', () => {
    expect([percent(0.085), percent(0.99999), percent(1)]).toEqual(['8.5 %', '99.9 %', '100 %']);
  });
});

describe('a bar', () => {
  test.each([
    [0, '░░░░░░░░░░'],
    [0.0001, '█░░░░░░░░░'],
    [0.5, '█████░░░░░'],
    [0.9999, '█████████░'],
    [1, '██████████'],
    [1.2, '██████████'],
    [null, '··········'],
  ])('of %s', (share, drawn) => {
    expect(bar(plainLook, share, 10)).toBe(drawn);
    expect(stripVTControlCharacters(bar(coloured, share, 10))).toBe(drawn);
  });
});

describe('columns', () => {
  const rows = [
    ['optimism', '12', 'a reason that is long enough to be cut'],
    ['批次', '1,200', 'short'],
  ];
  const aligns = ['left', 'right'] as const;
  const table = { head: ['chain', 'rows', 'why'], rows, aligns, flexible: [2] };

  test('are aligned, and one is cut on a narrow terminal', () => {
    const lines = tableLines(coloured, table).map((line) => stripVTControlCharacters(line));
    expect(lines).toEqual([
      'chain      rows  why',
      'optimism     12  a reason that is long …',
      '批次      1,200  short',
    ]);
    expect(Math.max(...lines.map(widthOf))).toBe(40);
  });

  test('are whole in a file, however narrow', () => {
    expect(tableLines({ ...plainLook, columns: 40 }, table)[1]).toContain('enough to be cut');
  });
});

describe('the layout', () => {
  const terminal = { isTTY: true, columns: 80 };
  const xterm = { TERM: 'xterm-256color' };
  const look = (isTerminal: boolean, columns: number, isColoured: boolean): Look => ({
    isTerminal,
    columns,
    isColoured,
  });

  test.each<[string, Parameters<typeof lookOf>[0], NodeJS.ProcessEnv, Look]>([
    ['a terminal', terminal, xterm, look(true, 80, true)],
    ['NO_COLOR', terminal, { ...xterm, NO_COLOR: '1' }, look(true, 80, false)],
    ['TERM=dumb', terminal, { TERM: 'dumb' }, look(false, 80, false)],
    ['no width', { isTTY: true, columns: 0 }, xterm, look(false, 100, true)],
    ['a file', { isTTY: false, columns: 0 }, xterm, plainLook],
    ['FORCE_COLOR', { isTTY: false, columns: 0 }, { FORCE_COLOR: '1' }, look(false, 100, true)],
    ['FORCE_COLOR=0', terminal, { ...xterm, FORCE_COLOR: '0' }, look(true, 80, false)],
  ])('of %s', (_, stream, env, expected) => {
    expect(lookOf(stream, env)).toEqual(expected);
  });

  test('without colours has no escape sequence', () => {
    expect(mark(plainLook, 'bad') + paint(plainLook, 'command', 'x')).toBe('●x');
    expect(mark(coloured, 'bad')).not.toBe('●');
  });
});

describe('a command as typed', () => {
  test.each([
    [{}, false, 'explorer-etl'],
    [{}, true, 'npx explorer-etl'],
    [{ npm_command: 'exec' }, false, 'npx explorer-etl'],
    [{ npm_command: 'run-script' }, false, 'npx explorer-etl'],
  ])('environment %j, in a clone: %s: %s', (env, isClone, program) => {
    expect(programPrefix(env, isClone)).toBe(program);
  });

  test.each([
    ['explorer-etl verify', 'npx explorer-etl verify --demo'],
    ['explorer-etl query --list', 'npx explorer-etl query --list --demo'],
    ['explorer-etl query "select  1"', 'npx explorer-etl query "select  1" --demo'],
    ['explorer-etl feeds pause --all', 'npx explorer-etl feeds pause --all --demo'],
    ['explorer-etl db shell', 'npx explorer-etl db shell --demo'],
    ['explorer-etl db stop', 'npx explorer-etl db stop'],
    ['explorer-etl open --demo', 'npx explorer-etl open --demo'],
    ['explorer-etl backfill --chain 10 --operation user-operations', 'npx explorer-etl demo'],
    ['explorer-etl repair --chain 10 --yes', 'npx explorer-etl demo'],
    ['explorer-etl init', 'npx explorer-etl init'],
  ])("%s names the demo if the data is the demo's", (bare, typed) => {
    const program = 'npx explorer-etl';
    expect(commandLineOf({ program, demo: true })(bare)).toBe(typed);
    expect(commandLineOf({ program, demo: false })(bare)).toBe(`npx ${bare}`);
  });

  // A reader of another database than its page or answer names.
  test('names the demo for every command that takes --demo', async () => {
    const taking: string[] = [];
    for (const { name, load } of commands) {
      const command = new Command(name);
      (await load()).register({ command, run: () => async () => {}, explain: () => {} });
      addDemo(command);
      for (const one of [command, ...command.commands]) {
        const path = one === command ? name : `${name} ${one.name()}`;
        const takesDemo = one.options.some(({ long }) => long === '--demo');
        const typed = commandLineOf({ program: 'x', demo: true })(`explorer-etl ${path}`);
        expect(typed.endsWith('--demo'), path).toBe(takesDemo);
        if (takesDemo) taking.push(path);
      }
    }
    expect(taking.join(', ')).toBe(
      'check, plan, status, open, verify, feeds list, feeds pause, feeds resume, feeds run, query, export, mcp, db url, db shell',
    );
  });
});
