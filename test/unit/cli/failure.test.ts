import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/context.ts';
import { ListenError } from '../../../src/http/server.ts';
import {
  errorDocument,
  errorKinds,
  failureOf,
  interruption,
  linesOf,
  writeFailure,
  wrongFlags,
} from '../../../src/cli/failure.ts';
import { ConfigError } from '../../../src/config/environment.ts';
import { MigrationError } from '../../../src/db/failure.ts';
import { PoolerError } from '../../../src/db/route.ts';
import { StandbyError } from '../../../src/db/state.ts';
import { EmbeddedPostgresError } from '../../../src/postgres/programs.ts';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { ExportError } from '../../../src/export/parquet.ts';
import { OriginError } from '../../../src/sync/feeds.ts';
import { DeploymentError } from '../../../src/sync/lanes.ts';
import { DatabaseUnavailableError } from '../../../src/cli/database.ts';
import { StatementError, StatementTimeoutError } from '../../../src/query/failure.ts';
import { CommanderError } from 'commander';
import { plainOutput } from '../../harness/process.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const deadlock = Object.assign(new DatabaseError('deadlock detected', 0, 'error'), {
  code: '40P01',
});
const places = new ConfigError([
  { message: 'not a number', where: 'explorer-etl.yaml:7' },
  { message: 'no key', where: null },
]);

const gone = new DatabaseUnavailableError('so', { cause: refused });
const noKey = new ExplorerError({ failure: 'unauthorized', status: 401, detail: 'no such key' });

type Thrown = readonly [error: unknown, kind: string, code: string | null, exit: number];

/** A failure of each class that commands throw. */
const thrown: readonly Thrown[] = [
  [new UsageError('so'), 'usage', null, 2],
  [new ListenError('so'), 'listen', null, 2],
  [places, 'configuration', null, 2],
  [gone, 'database-unavailable', 'ECONNREFUSED', 2],
  [deadlock, 'database', '40P01', 1],
  [new Error('query failed', { cause: deadlock }), 'database', '40P01', 1],
  [refused, 'database', 'ECONNREFUSED', 1],
  [new EmbeddedPostgresError('so'), 'embedded-postgres', null, 2],
  [new MigrationError('so'), 'migration', null, 2],
  [new PoolerError('so'), 'pooler', null, 2],
  [new StandbyError(), 'standby', null, 2],
  [new StatementError('so', { cause: deadlock }), 'statement', '40P01', 2],
  [new StatementTimeoutError('so'), 'statement-timeout', null, 1],
  [new ExportError('so'), 'export', null, 2],
  [new OriginError('so'), 'other-explorer', null, 2],
  [new DeploymentError('so'), 'other-deployment', null, 2],
  [noKey, 'explorer', 'unauthorized', 1],
  [new TypeError('x is not a function'), 'unexpected', null, 1],
];

const flags = {
  databaseUrl: 'postgres://nobody@127.0.0.1/none',
  commandLine: (command: string) => command,
};

test.each(thrown)('%s is of kind %s, with code %s and exit code %i', (error, kind, code, exit) => {
  const failure = failureOf(error, flags);
  expect(failure.exit.code).toBe(exit);
  expect(failure.errors).toEqual(failure.errors.map(() => expect.objectContaining({ kind, code })));
});

test('a connection that is lost at work has the advice on the database, not on its address', () => {
  const hintOf = (error: Error) => failureOf(error, flags).errors[0]?.hint;
  expect(hintOf(refused)).toMatch(/^Start the database: nothing is half-written/u);
  expect(hintOf(gone)).toBe('Check --database-url, and the log and disk of its server.');
});

test('every kind of error has a test', () => {
  const kinds = [...thrown.map(([, kind]) => kind), interruption.errors[0]?.kind];
  expect(new Set(kinds)).toEqual(new Set(errorKinds));
});

/** What is written of an error with `--json`, and without. */
function outputOf(error: unknown) {
  let stdout = '';
  const context = {
    ...plainOutput,
    args: [],
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    stdout: (text: string) => void (stdout += text),
    stderr: () => undefined,
  };
  const failure = failureOf(error, flags);
  writeFailure(context, failure);
  return { document: errorDocument.loose().parse(JSON.parse(stdout)), lines: linesOf(failure) };
}

test('each problem of a file is an error with its place, and a line', () => {
  const { document, lines } = outputOf(places);
  expect(document.errors).toMatchObject([
    { where: 'explorer-etl.yaml:7', message: 'not a number' },
    { where: null, message: 'no key' },
  ]);
  expect(lines).toEqual(['explorer-etl.yaml:7: not a number', 'no key']);
});

test('the origin of the database address is a hint at the end of the line', () => {
  const { document, lines } = outputOf(new DatabaseUnavailableError('it is gone.'));
  expect(document.errors).toMatchObject([
    { message: 'it is gone.', hint: 'Check --database-url, and the log and disk of its server.' },
  ]);
  expect(lines).toEqual(['it is gone. Check --database-url, and the log and disk of its server.']);
});

test("the parser's suggestion is a hint", () => {
  const message = "error: unknown option '--lits'\n(Did you mean --list?)";
  const error = new CommanderError(1, 'commander.unknownOption', message);
  expect(wrongFlags(error, (command) => command)).toMatchObject({
    exit: { code: 2 },
    errors: [
      { code: 'unknownOption', message: "unknown option '--lits'", hint: 'Did you mean --list?' },
    ],
  });
});
