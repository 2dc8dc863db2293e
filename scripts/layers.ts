// The layers of the product, top first. A module may import only itself and modules of lower layers;
// modules of one layer never import each other.
const layers: readonly (readonly string[])[] = [
  ['main.ts'],
  ['cli'],
  ['app.ts', 'http', 'web'],
  ['status'],
  ['replay'],
  ['quarantine'],
  ['sync'],
  ['export'],
  ['config', 'query'],
  ['lists'],
  ['explorer'],
  ['load'],
  ['drift', 'rollups'],
  ['postgres'],
  ['db'],
  ['log.ts'],
  ['terminal'],
  ['redact.ts'],
  ['signals.ts'],
  ['failure.ts'],
  ['printable.ts'],
  ['exact-number.ts'],
  ['time.ts'],
  ['chains.ts'],
  ['compile-cache.ts', 'package-file.ts'],
  ['owner.ts'],
];

/** It plays the service, so it imports nothing of the product. */
const simulator = 'simulator';
const simulatorUsers: ReadonlySet<string> = new Set(['cli/demo-world.ts', 'cli/simulate.ts']);

/**
 * Judges one import between two files.
 *
 * @param from the importing file, relative to src/, as `walk/walk.ts`
 * @param to the imported file, relative to src/; one outside starts with `..`
 * @returns the broken rule, or null
 */
export function brokenRule(from: string, to: string): string | null {
  const [here, there] = [moduleOf(from), moduleOf(to)];
  if (there === '..') return 'the product imports nothing but itself and packages';
  if (here === simulator) {
    return there === simulator ? null : 'the simulator imports nothing of the product';
  }
  if (there === simulator) {
    return simulatorUsers.has(from) ? null : 'only demo and simulate import the simulator';
  }
  if (here === there) {
    return areSiblings(from, to) ? `nothing in ${here} imports a sibling's folder` : null;
  }
  return layerOf(there) > layerOf(here) ? null : 'imports go down: see scripts/layers.ts';
}

/** Whether a file of src/ belongs to a module that has a layer. */
export function hasLayer(file: string): boolean {
  return moduleOf(file) === simulator || layerOf(moduleOf(file)) >= 0;
}

const moduleOf = (file: string): string => file.split('/')[0] ?? file;
const layerOf = (module: string): number => layers.findIndex((modules) => modules.includes(module));

function areSiblings(from: string, to: string): boolean {
  const [[module, ours, inOurs], [, theirs, inTheirs]] = [from.split('/'), to.split('/')];
  const bothInFolders = inOurs !== undefined && inTheirs !== undefined;
  return module === 'lists' && bothInFolders && ours !== theirs;
}
