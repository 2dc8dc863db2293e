import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  inspectEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../../src/postgres/postgres.ts';
import { sharedDirectory } from '../../../src/postgres/programs.ts';
import { freshDirectory } from '../../harness/database.ts';
import { initializedDirectory } from '../../harness/initialized.ts';
import { call, emptyFolder, eventually, expectOneMessage } from '../../harness/process.ts';

/** What these tests store need not survive the machine. */
const settings = { fsync: 'off' };
const isRoot = process.geteuid?.() === 0;
const stranger = 12_345;
const start = (directory: string) => startEmbeddedPostgres({ directory, settings });
const uses = [start, stopEmbeddedPostgres, inspectEmbeddedPostgres];

describe('a folder for the embedded Postgres', () => {
  test('is writable by its user alone, whatever the umask, and keeps no draft of the data', async () => {
    const directory = join(await freshDirectory(), 'etl');
    const mask = process.umask(0);
    try {
      await start(directory);
    } finally {
      process.umask(mask);
      await stopEmbeddedPostgres(directory);
    }
    expect((await stat(directory)).mode & 0o777).toBe(isRoot ? 0o755 : 0o700);
    expect((await readdir(directory)).toSorted()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('data.new-')]),
    );
  });

  test.each(['775', '757', '1777'])('is refused with mode %s, and stays as it is', async (mode) => {
    const directory = await freshDirectory();
    await chmod(directory, Number.parseInt(mode, 8));
    for (const use of uses) await expect(use(directory)).rejects.toThrow(/Other users may write/u);
    expect(await readdir(directory)).toEqual([]);
    await chmod(directory, 0o755);
  });

  test.runIf(isRoot)('is refused if another user owns it, or the link to it', async () => {
    const directory = await freshDirectory();
    const [own, theirs] = [join(directory, 'own'), join(directory, 'theirs')];
    await mkdir(own);
    await mkdir(theirs);
    await chown(theirs, stranger, stranger);
    const links = [join(directory, 'to-theirs'), join(directory, 'of-theirs')] as const;
    await symlink(theirs, links[0]);
    await symlink(own, links[1]);
    await lchown(links[1], stranger, stranger);
    for (const use of uses) {
      for (const folder of [theirs, ...links]) {
        await expect(use(folder)).rejects.toThrow(/belongs to another user/u);
      }
    }
    expect([...(await readdir(theirs)), ...(await readdir(own))]).toEqual([]);
  });

  test.runIf(isRoot)('is refused where root keeps what all accounts may enter', async () => {
    const shared = await sharedDirectory(`test-${process.pid}`);
    onTestFinished(() => rmdir(shared));
    await chown(shared, stranger, stranger);
    await expect(sharedDirectory(`test-${process.pid}`)).rejects.toThrow(/belongs to another/u);
  });

  test('which others may write ends each command with what to do', async () => {
    const cwd = await emptyFolder();
    const folder = join(cwd, '.explorer-etl');
    await mkdir(folder);
    await chmod(folder, 0o777);
    for (const command of ['db start', 'db stop', 'db status', 'db url', 'verify', 'migrate']) {
      const ended = await call(command.split(' '), { cwd });
      expectOneMessage(ended, /Other users may write to .*\.explorer-etl: .*run "chmod go-w /u);
    }
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a file of the server', () => {
  const ofServer = ['postmaster.pid', 'postmaster.opts', 'postgres.log', 'explorer-etl.password'];

  /** Data of a stopped server, a file beside it, and what replaces a file of the server. */
  async function scene() {
    const directory = await initializedDirectory();
    const secret = join(directory, 'secret');
    await writeFile(secret, '4242\nof root\n', { mode: 0o600 });
    const replacements = {
      link: (file: string) => symlink(secret, file),
      name: (file: string) => link(secret, file),
      pipe: async (file: string) => void execFileSync('/usr/bin/mkfifo', ['-m', '666', file]),
    };
    const replace = async (name: string, by: keyof typeof replacements) => {
      const file = join(directory, 'data', name);
      const kept = `${file}.kept`;
      const isThere = (await lstat(file).catch(() => null)) !== null;
      if (isThere) await rename(file, kept);
      await replacements[by](file);
      let isRestored = false;
      const restore = async () => {
        if (isRestored) return;
        isRestored = true;
        // A process that waits for the pipe continues.
        if (by === 'pipe') await (await open(file, 'r+')).close();
        await rm(file);
        if (isThere) await rename(kept, file);
      };
      onTestFinished(restore);
      return restore;
    };
    return { directory, secret, replace };
  }

  test.each([
    ['link', /^EmbeddedPostgresError: Cannot use .*\(remove the link\)/u],
    ['name', /is not a regular file with one name: remove it/u],
    ['pipe', /is not a regular file with one name: remove it/u],
  ] as const)(
    'that is replaced by a %s is neither followed, read, written nor waited for',
    async (by, problem) => {
      const { directory, secret, replace } = await scene();
      for (const name of ofServer) {
        const restore = await replace(name, by);
        const error = await start(directory).catch(String);
        expect(error).toMatch(problem);
        expect(error).toMatch(`data/${name}`);
        expect(error).not.toContain('of root');
        expect(await readFile(secret, 'utf8')).toBe('4242\nof root\n');
        await restore();
      }
    },
  );

  test('that is replaced by a pipe while the server runs delays neither status nor stop', async () => {
    const { directory, replace } = await scene();
    await start(directory);
    const restore = await replace('postmaster.pid', 'pipe');
    for (const use of uses) await expect(use(directory)).rejects.toThrow(/is not a regular file/u);
    await restore();
  });
});

describe.runIf(isRoot)('as root', () => {
  test('the folder in which the data is made is root’s, so that no other process replaces what is in it', async () => {
    const directory = await freshDirectory();
    const owners = new Set<number>();
    const starting = start(directory);
    await eventually('the data', async () => {
      const names = await readdir(directory);
      for (const name of names.filter((found) => found.startsWith('data.new-'))) {
        const draft = await lstat(join(directory, name)).catch(() => null);
        if (draft !== null) owners.add(draft.uid);
      }
      return names.includes('data');
    });
    await starting;
    expect([...owners]).toEqual([0]);
  });

  test('an abandoned draft is emptied as the account of the server, which can delete nothing of root’s', async () => {
    const directory = await freshDirectory();
    const draft = join(directory, 'data.new-abc');
    const ofRoot = join(draft, 'data/base');
    await mkdir(ofRoot, { recursive: true });
    for (const folder of [ofRoot, join(draft, 'data')]) await writeFile(join(folder, 'file'), '');
    await chown(join(draft, 'data'), 65_534, 65_534);
    await start(directory);
    expect(await readdir(join(draft, 'data'))).toEqual(['base']);
    expect(await readdir(ofRoot)).toEqual(['file']);
  });
});
