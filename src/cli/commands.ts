import type { Register } from './context.ts';

/** What is known of a command before it is loaded: its line in the help. */
export interface CommandEntry {
  readonly name: string;
  readonly description: string;
  /** Its heading in the help. */
  readonly group: string;
  /** Its options and its work. The whole program takes a second to load, and help needs none of it. */
  readonly load: () => Promise<Register>;
}

/** Every command under its heading, in the order of the help. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Get started:': {
    demo: 'mirror two simulated chains into an embedded Postgres, without a key',
    init: 'write explorer-etl.yaml to start from',
    check: 'test configuration, database and API key',
    plan: 'estimate requests, credits and days, before and during a run',
  },
  'Mirror:': {
    sync: 'bring feeds up to date once, and exit',
    start: 'keep every feed current by its schedule, until SIGTERM or Ctrl-C',
    backfill: 'read history that is not covered yet, and nothing else',
  },
  'Watch and verify:': {
    status: 'what each feed does, how current and complete it is, and what is left',
    open: 'serve the page: status, coverage, credits and queries',
    verify: 'report for every feed what is verified complete, and what is missing',
    repair: 'download what verify reports missing',
    quarantine: 'items that could not become rows: list, retry, drop',
  },
  'Use the data:': {
    query: 'query the database: in SQL, or by the name of a query that is included',
    export: 'write tables, views or queries to files, by chain and day',
    db: 'the embedded Postgres: start, stop, status, url; a shell in any database',
  },
  'Operate:': {
    migrate: "bring the database's schema up to this program",
    replay: 'decode archived pages again with this version, and store what is new; no request',
    simulate: 'run the simulated explorer as a server, to try things without a key',
  },
};

const loaders: Readonly<Record<string, CommandEntry['load']>> = {
  demo: async () => (await import('./demo.ts')).registerDemo,
  init: async () => (await import('./init.ts')).registerInit,
  check: async () => (await import('./check.ts')).registerCheck,
  plan: async () => (await import('./plan.ts')).registerPlan,
  sync: async () => (await import('./sync.ts')).registerSync,
  start: async () => (await import('./start.ts')).registerStart,
  backfill: async () => (await import('./backfill.ts')).registerBackfill,
  status: async () => (await import('./status.ts')).registerStatus,
  open: async () => (await import('./open.ts')).registerOpen,
  verify: async () => (await import('./verify.ts')).registerVerify,
  repair: async () => (await import('./repair.ts')).registerRepair,
  quarantine: async () => (await import('./quarantine.ts')).registerQuarantine,
  query: async () => (await import('./query.ts')).registerQuery,
  export: async () => (await import('./export.ts')).registerExport,
  db: async () => (await import('./db.ts')).registerDb,
  migrate: async () => (await import('./migrate.ts')).registerMigrate,
  replay: async () => (await import('./replay.ts')).registerReplay,
  simulate: async () => (await import('./simulate.ts')).registerSimulate,
};

export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(
  ([group, descriptions]) =>
    Object.entries(descriptions).map(([name, description]) => {
      const load = loaders[name];
      if (load === undefined) throw new Error(`command ${name} has no module`);
      return { name, description, group, load };
    }),
);
