import type { Register } from './context.ts';

/** What is known of a command before it is loaded: its line in the help. */
export interface CommandEntry {
  readonly name: string;
  readonly description: string;
  /** Under which heading of the help it stands. */
  readonly group: string;
  /** Its options and its work. To load all of the program takes a second; who asks for help waits for none of it. */
  readonly load: () => Promise<Register>;
}

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    description: 'copy two simulated chains into an embedded Postgres, and show what comes of it',
    group: 'To begin with:',
    load: async () => (await import('./demo.ts')).registerDemo,
  },
  {
    name: 'init',
    description: 'write explorer-etl.yaml to start from',
    group: 'To begin with:',
    load: async () => (await import('./init.ts')).registerInit,
  },
  {
    name: 'check',
    description: 'look whether configuration, database and API key would do',
    group: 'To begin with:',
    load: async () => (await import('./check.ts')).registerCheck,
  },
  {
    name: 'plan',
    description: 'say what feeds cost in requests, credits and days, before and during a run',
    group: 'To begin with:',
    load: async () => (await import('./plan.ts')).registerPlan,
  },
  {
    name: 'sync',
    description: 'bring feeds up to date once, and exit',
    group: 'To copy:',
    load: async () => (await import('./sync.ts')).registerSync,
  },
  {
    name: 'start',
    description: 'work on every feed by its schedule, until SIGTERM or Ctrl-C',
    group: 'To copy:',
    load: async () => (await import('./start.ts')).registerStart,
  },
  {
    name: 'backfill',
    description: 'read history that is not covered yet, and nothing else',
    group: 'To copy:',
    load: async () => (await import('./backfill.ts')).registerBackfill,
  },
  {
    name: 'status',
    description: 'what each feed is doing, how current and complete it is, and what is left',
    group: 'To watch and prove:',
    load: async () => (await import('./status.ts')).registerStatus,
  },
  {
    name: 'open',
    description: 'serve the page: what is proved, how current it is, what it costs',
    group: 'To watch and prove:',
    load: async () => (await import('./open.ts')).registerOpen,
  },
  {
    name: 'verify',
    description: 'say of every feed what is proved complete, and what is open',
    group: 'To watch and prove:',
    load: async () => (await import('./verify.ts')).registerVerify,
  },
  {
    name: 'repair',
    description: 'make the walks that verify calls for, and no others',
    group: 'To watch and prove:',
    load: async () => (await import('./repair.ts')).registerRepair,
  },
  {
    name: 'quarantine',
    description: 'the items that could not become rows: list, retry, drop',
    group: 'To watch and prove:',
    load: async () => (await import('./quarantine.ts')).registerQuarantine,
  },
  {
    name: 'query',
    description: 'ask the database: in SQL, or a question that comes with the program',
    group: 'To use the data:',
    load: async () => (await import('./query.ts')).registerQuery,
  },
  {
    name: 'export',
    description: 'write tables, views or questions into files, by chain and day',
    group: 'To use the data:',
    load: async () => (await import('./export.ts')).registerExport,
  },
  {
    name: 'db',
    description: 'the embedded Postgres: start, stop, status, url; a shell in any database',
    group: 'To use the data:',
    load: async () => (await import('./db.ts')).registerDb,
  },
  {
    name: 'migrate',
    description: "bring the database's schema up to this program",
    group: 'To run it:',
    load: async () => (await import('./migrate.ts')).registerMigrate,
  },
  {
    name: 'replay',
    description: 'decode archived pages again by this version, and store what is new; no request',
    group: 'To run it:',
    load: async () => (await import('./replay.ts')).registerReplay,
  },
  {
    name: 'simulate',
    description: 'run the simulated explorer as a server, to try things without a key',
    group: 'To run it:',
    load: async () => (await import('./simulate.ts')).registerSimulate,
  },
];

/** The command of that name; undefined where there is none. */
export const commandNamed = (name: string | undefined): CommandEntry | undefined =>
  commands.find((entry) => entry.name === name);
