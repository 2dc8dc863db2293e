import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { compileCacheFolder } from '../../src/compile-cache.ts';

const isRoot = process.geteuid?.() === 0;
const below = (home: string) => join(home, '.cache/explorer-etl/compiled');

/** In the system's temporary folder, which has the sticky bit. */
async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'explorer-etl-home-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('compiled code is kept in a folder that only its user can enter', async () => {
  const home = await emptyFolder();
  expect(compileCacheFolder(home)).toBe(below(home));
  expect((await stat(below(home))).mode & 0o777).toBe(0o700);
  expect(compileCacheFolder(home)).toBe(below(home));
});

test.each([0o775, 0o757, 0o1777])(
  'a folder of compiled code with mode %o is not used',
  async (mode) => {
    const home = await emptyFolder();
    await mkdir(below(home), { recursive: true });
    await chmod(below(home), mode);
    expect(compileCacheFolder(home)).toBeNull();
  },
);

test('no home is made to keep compiled code in', async () => {
  const home = join(await emptyFolder(), 'none');
  expect(compileCacheFolder(home)).toBeNull();
  await expect(stat(home)).rejects.toThrow('ENOENT');
});

test.runIf(isRoot)('nothing is made in the home of another user', async () => {
  const home = await emptyFolder();
  await chown(home, 12_345, 12_345);
  expect(compileCacheFolder(home)).toBeNull();
  expect(await readdir(home)).toEqual([]);
});

test('a folder of compiled code is not used if others can rename it or a parent', async () => {
  for (const parent of [dirname, (folder: string) => dirname(dirname(folder))]) {
    const home = await emptyFolder();
    await mkdir(below(home), { recursive: true });
    await chmod(parent(below(home)), 0o777);
    expect(compileCacheFolder(home)).toBeNull();
  }
});

test.runIf(isRoot)(
  'a folder of compiled code of another user is not used, behind a link too',
  async () => {
    const home = await emptyFolder();
    await mkdir(below(home), { recursive: true });
    await chown(below(home), 12_345, 12_345);
    expect(compileCacheFolder(home)).toBeNull();

    const linked = await emptyFolder();
    await mkdir(dirname(below(linked)), { recursive: true });
    await symlink(below(home), below(linked));
    expect(compileCacheFolder(linked)).toBeNull();
  },
);

test('without a folder for compiled code the program starts all the same', async () => {
  const home = await emptyFolder();
  await writeFile(join(home, '.cache'), '');
  expect(compileCacheFolder(home)).toBeNull();
});

test('a program leaves nothing in the shared temporary folder, and its code in the home of its user', async () => {
  const [home, shared] = [await emptyFolder(), await emptyFolder()];
  await promisify(execFile)(process.execPath, [inject('program'), 'help'], {
    env: { HOME: home, TMPDIR: shared },
  });
  expect(await readdir(shared)).toEqual([]);
  expect(await readdir(below(home))).not.toEqual([]);
});
