import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
/** What the package is made from, and nothing that only the checkout has. */
const sources = [
  'bin',
  'src',
  'simulator',
  'migrations',
  'questions',
  'sql',
  'dashboards',
  'deploy',
  'docs',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'package.json',
  'rolldown.config.js',
  'tsconfig.json',
  'explorer-etl.schema.json',
];
const packedSchema = z.object({
  filename: z.string(),
  /** Bytes. */
  size: z.int(),
  unpackedSize: z.int(),
  files: z.array(z.object({ path: z.string() })),
});
export type Packed = z.infer<typeof packedSchema>;
const packSchema = z.tuple([packedSchema]);

/** The package as npm makes it, and as npm installs it. */
export interface InstalledPackage {
  /** All of it; the caller removes it. */
  readonly scratch: string;
  /** The folder of a user, which was empty before. */
  readonly folder: string;
  readonly packed: Packed;
}

/** Builds the package from this checkout, once, and installs it as a user does. */
export async function installPackage(): Promise<InstalledPackage> {
  const scratch = await mkdtemp(join(tmpdir(), 'explorer-etl-pack-'));
  // Open to the server's account, so that its data stays in here and goes with it.
  await chmod(scratch, 0o755);
  const checkout = join(scratch, 'checkout');
  for (const source of sources) {
    await cp(join(root, source), join(checkout, source), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const pack = await run('npm', ['pack', '--json', '--pack-destination', scratch], checkout);
  const [packed] = packSchema.parse(JSON.parse(pack.stdout));
  const folder = await mkdtemp(join(scratch, 'empty-'));
  await chmod(folder, 0o755);
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quietly, join(scratch, packed.filename)], folder);
  return { scratch, folder, packed };
}

/** A user's environment: this Node, and none of the checkout's other programs on the path. */
export function environment(): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _prefix, npm_package_json: _manifest, ...rest } = process.env;
  const path = (rest['PATH'] ?? '').split(delimiter);
  const own = path.filter((entry) => !entry.includes('node_modules'));
  const node = dirname(process.execPath);
  return { ...rest, PATH: [node, ...own].join(delimiter), NO_COLOR: '1', DATABASE_URL: '' };
}

/** Runs a program as a user does, to its end. */
export async function run(program: string, args: readonly string[], cwd: string) {
  const output = await promisify(execFile)(program, args, { cwd, env: environment() });
  return { stdout: output.stdout };
}
