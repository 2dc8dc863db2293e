import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type RolldownOptions } from 'rolldown';
import { loadConfig } from 'rolldown/config';

const root = join(import.meta.dirname, '../..');
/** What the program reads beside its code. */
const beside = ['migrations', 'questions', 'sql', 'src', 'node_modules'];

/** The program as it is packed, for the processes that tests start. */
export interface Bundle {
  /** Its entry. */
  readonly main: string;
  /** Makes it of the sources as they are now. */
  build(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Bundles the program into a folder that stands as its package does: Node takes a second for the sources each time
 * that they start, and a tenth of one for the bundle.
 *
 * @param prefix for mkdtemp
 */
export async function bundleProgram(prefix: string): Promise<Bundle> {
  const folder = await mkdtemp(prefix);
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of beside) await symlink(join(root, name), join(folder, name));
  const dir = join(folder, 'dist');
  const bundle: Bundle = {
    main: join(dir, 'main.js'),
    async build() {
      const config = (await loadConfig(join(root, 'rolldown.config.js'))) as RolldownOptions;
      await build({ ...config, cwd: root, output: { dir, format: 'esm', cleanDir: true } });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  await bundle.build();
  return bundle;
}
