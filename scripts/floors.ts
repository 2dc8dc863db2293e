import type { IForbiddenRuleType } from 'dependency-cruiser';

// The floors of the house, top first. A room may import only rooms on floors below its own
// (and itself); rooms that share a floor never import each other.
const floors: readonly (readonly string[])[] = [
  ['main.ts'],
  ['cli'],
  ['app.ts'],
  ['jobs'],
  ['feeds'],
  ['walk'],
  ['explorer', 'load', 'operations'],
  ['address'],
  ['db'],
  ['config'],
  ['log.ts'],
];
const path = (room: string) =>
  room.endsWith('.ts') ? `^src/${room.replace('.', '\\.')}$` : `^src/${room}/`;
const any = (rooms: readonly string[]) => rooms.map(path).join('|');

const downward = floors.flatMap((floor, level) =>
  floor.map((room) => ({
    name: `${room} imports only downward`,
    severity: 'error' as const,
    from: { path: path(room) },
    to: {
      path: '^src/',
      pathNot: `${any([room, ...floors.slice(level + 1).flat()])}${
        room === 'cli' ? '|^src/simulator/' : ''
      }`,
    },
  })),
);

/** The import rules of the house, for dependency-cruiser. */
export const forbidden: IForbiddenRuleType[] = [
  ...downward,
  {
    name: 'every room stands on a floor',
    severity: 'error' as const,
    from: { path: '^src/', pathNot: any([...floors.flat(), 'simulator']) },
    to: {},
  },
  {
    name: 'the simulator imports nothing of the product',
    severity: 'error' as const,
    from: { path: '^src/simulator/' },
    to: { path: '^src/', pathNot: '^src/simulator/' },
  },
  {
    name: 'only demo and simulate import the simulator',
    severity: 'error' as const,
    from: { path: '^src/', pathNot: '^src/simulator/|^src/cli/(demo|simulate)\\.ts$' },
    to: { path: '^src/simulator/' },
  },
  {
    name: 'an operation never imports its sibling',
    severity: 'error' as const,
    from: { path: '^src/operations/([^/]+)/' },
    to: { path: '^src/operations/[^/]+/', pathNot: '^src/operations/$1/' },
  },
  { name: 'no cycles', severity: 'error' as const, from: {}, to: { circular: true } },
  {
    name: 'product never imports tests, benches or scripts',
    severity: 'error' as const,
    from: { path: '^src/' },
    to: { path: '^(test|bench|scripts)/' },
  },
];
