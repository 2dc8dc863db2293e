/**
 * The layers of the product, top first: their modules, and what each does. A module may import only itself and modules
 * of lower layers; modules of one layer never import each other.
 */
const layers: readonly Readonly<Record<string, string>>[] = [
  { 'main.ts': 'arguments, signals, exit code' },
  { cli: 'one file for each command, loaded when it is called' },
  {
    'app.ts': 'builds configuration, database, explorer and feeds',
    http: "the page's JSON, health and metrics over HTTP; it only reads",
    mcp: 'tools of the Model Context Protocol, with the state of the lists that they read',
    web: 'the page: a small client over the JSON of `http/`',
  },
  { status: "status, findings, plan, and the page's JSON, with schemas" },
  { replay: 'decodes archived pages again and upserts their rows' },
  { quarantine: 'lists, retries and drops items that could not become rows' },
  { sync: 'pages: read, check, commit; walks, runs, lanes; slices on pg-boss' },
  { export: 'relations and queries as Parquet and CSV files' },
  {
    config: 'file, environment and flags as one validated object',
    query: 'one statement in a read-only transaction; the questions of `questions/`',
  },
  { lists: 'the three kinds of list, and a folder for each list' },
  { explorer: 'one GET: URL, redaction, request slots, retry, class of failure' },
  { load: 'rows as one upsert for each table; addresses, and how they merge' },
  {
    drift: 'counts how items differ from the specification',
    rollups: 'sums by day, sender and batch',
  },
  { postgres: 'starts and stops the embedded Postgres' },
  { db: 'pool, transactions, migrations, roles, column types, the table of feeds' },
  { 'log.ts': 'every event of the log with its fields; log lines without secrets' },
  { terminal: 'bars, tables and numbers as terminal lines' },
  { 'redact.ts': 'masks secrets in texts' },
  { 'signals.ts': 'in-process events for counters' },
  { 'failure.ts': 'the table from class of failure to action' },
  { 'printable.ts': 'foreign texts as lines that a terminal shows safely' },
  { 'exact-number.ts': 'JSON numbers that a double cannot hold' },
  { 'time.ts': 'durations and times as people write them' },
  { 'chains.ts': 'names, currencies and explorers of known chains' },
  {
    'compile-cache.ts': "a folder for Node's compiled code",
    'package-file.ts': "the package's files and version",
  },
  { 'owner.ts': 'whether a file belongs to another user' },
];

/** Each module with what it does, in the order of the layers. */
export const modules = layers.flatMap((layer) => Object.entries(layer));

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
const layerOf = (module: string): number =>
  layers.findIndex((layer) => Object.hasOwn(layer, module));

function areSiblings(from: string, to: string): boolean {
  const [[module, ours, inOurs], [, theirs, inTheirs]] = [from.split('/'), to.split('/')];
  const bothInFolders = inOurs !== undefined && inTheirs !== undefined;
  return module === 'lists' && bothInFolders && ours !== theirs;
}
