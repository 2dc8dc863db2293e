import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { command, emptyFolder } from '../harness/child.ts';

const run = promisify(execFile);

/** What is offered behind these words. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const { stdout, stderr, code } = await command(['complete', '--', ...words]);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

describe('behind words', () => {
  test.each([
    ['a command that begins so', ['ver'], ['verify']],
    ['commands of a group', ['quarantine', ''], ['list', 'retry', 'drop', 'help']],
    ['commands that help is about', ['help', 'sta'], ['start', 'status']],
    ['flags of a command', ['export', '--fo'], ['--format']],
    ['flags of all commands', ['sync', '--js'], ['--json']],
    [
      'values of a flag',
      ['sync', '--operation', 'opt'],
      ['optimism-batches', 'optimism-batch-blocks'],
    ],
    ['values of an argument', ['completion', 'z'], ['zsh']],
    ['nothing where there is nothing', ['sync', '--since', ''], []],
  ])('%s', async (_, words, found) => {
    expect(await offered(...words)).toEqual(found);
  });

  test('files where a flag takes one', async () => {
    const folder = await emptyFolder();
    await writeFile(join(folder, 'own.yaml'), '');
    await mkdir(join(folder, 'ours'));
    expect(await offered('sync', '--config', `${folder}/o`)).toEqual(
      expect.arrayContaining([`${folder}/own.yaml`, `${folder}/ours/`]),
    );
  });
});

test.each(['bash', 'zsh', 'fish'])('the script for %s asks the program', async (shell) => {
  const { stdout, code } = await command(['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toContain('explorer-etl complete --');
});

test('another shell is wrong use', async () => {
  const { code, stderr } = await command(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/bash.*zsh.*fish/);
});

test('bash completes with it', async () => {
  const folder = await emptyFolder();
  const { stdout: script } = await command(['completion', 'bash']);
  await writeFile(join(folder, 'script'), script);
  const main = join(import.meta.dirname, '../../src/main.ts');
  await writeFile(
    join(folder, 'explorer-etl'),
    `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`,
    { mode: 0o755 },
  );
  // What bash-completion, which the script needs, makes of the line.
  const line = `_get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }
    compopt() { :; }
    source "${folder}/script"
    COMP_WORDS=(explorer-etl sync --operation fac); COMP_CWORD=3
    __explorer_etl_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', line], {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
  });
  expect(stdout.trim().split('\n')).toEqual(['factories']);
});
