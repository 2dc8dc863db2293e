// The floors of the house, top first. A room may import only rooms on floors below its own
// (and itself); rooms that share a floor never import each other.
const floors: readonly (readonly string[])[] = [
  ['main.ts'],
  ['cli'],
  ['app.ts', 'http', 'web'],
  ['status'],
  ['replay'],
  ['quarantine'],
  ['sync'],
  ['export'],
  ['open-database.ts'],
  ['config', 'query'],
  ['lists'],
  ['explorer'],
  ['load'],
  ['drift', 'rollups'],
  ['postgres'],
  ['db'],
  ['log.ts'],
  ['events.ts'],
  ['terminal'],
  ['redact.ts'],
  ['log-levels.ts'],
  ['signals.ts'],
  ['failure.ts'],
  ['every.ts'],
  ['printable.ts'],
  ['exact-number.ts'],
  ['time.ts'],
  ['chains.ts'],
  ['package-file.ts'],
];

/** A world of its own: it plays the service, so it may not know the product. */
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
  const [here, there] = [roomOf(from), roomOf(to)];
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
  return floorOf(there) > floorOf(here) ? null : 'imports go down: see scripts/floors.ts';
}

/** Whether a file of src/ belongs to a room that has a floor. */
export function hasFloor(file: string): boolean {
  return roomOf(file) === simulator || floorOf(roomOf(file)) >= 0;
}

const roomOf = (file: string): string => file.split('/')[0] ?? file;
const floorOf = (room: string): number => floors.findIndex((rooms) => rooms.includes(room));

function areSiblings(from: string, to: string): boolean {
  const [[room, ours, inOurs], [, theirs, inTheirs]] = [from.split('/'), to.split('/')];
  const bothInFolders = inOurs !== undefined && inTheirs !== undefined;
  return room === 'lists' && bothInFolders && ours !== theirs;
}
