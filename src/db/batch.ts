import { DatabaseError, Query, type Connection, type PoolClient, type QueryConfig } from 'pg';

/**
 * What node-postgres's client calls on a query under way (pg/lib/client.js, pg/lib/query.js): none of it
 * is in its types, so versions of it are taken over with `test/integration/db/batch.test.ts`.
 */
interface Statement {
  readonly name: string | undefined;
  readonly text: string;
  readonly _result: { _types: unknown };
  prepare(connection: unknown): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
  handleError(error: Error, connection: unknown): void;
}

/** A statement that waits to be sent, and who waits for its answer. */
interface Waiting {
  readonly config: QueryConfig;
  readonly values: unknown[] | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends what is asked in one go as one message, and has it answered as one: each write of either side
 * wakes the other's process, which takes longer than most statements of a page. Of such statements one
 * that fails makes all after it fail, so it is for those of a transaction.
 */
export function sendTogether(client: PoolClient): void {
  const query = client.query.bind(client) as (...told: unknown[]) => unknown;
  let waiting: Waiting[] = [];
  const send = () => {
    const [first, ...others] = waiting;
    const all = waiting;
    waiting = [];
    if (first === undefined) return;
    if (others.length > 0) query(new Batch(all, Reflect.get(client, '_types')));
    else (query(first.config, first.values) as Promise<unknown>).then(first.resolve, first.reject);
  };
  client.query = ((told: unknown, values: unknown, callback: unknown) => {
    const isPlain = typeof told === 'object' && told !== null && 'text' in told;
    if (!isPlain || typeof values === 'function' || callback !== undefined) {
      send();
      return query(told, values, callback);
    }
    // After all that can be asked now: promises that are settled come before it.
    if (waiting.length === 0) process.nextTick(send);
    return new Promise((resolve, reject) => {
      const config = told as QueryConfig;
      waiting.push({ config, values: values as unknown[] | undefined, resolve, reject });
    });
  }) as typeof client.query;
}

/** Statements that are sent, and answered, in one go. */
class Batch extends Query {
  readonly #statements: readonly Statement[];
  /** The statement whose answer comes. */
  #at = 0;
  #unsendable: Error | null = null;

  constructor(waiting: readonly Waiting[], types: unknown) {
    super({ text: '' });
    this.#statements = waiting.map((one) => this.#statementOf(one, types));
    // Under these the client remembers what the server has parsed.
    Object.defineProperties(this, {
      name: { get: () => this.#statements[this.#at]?.name },
      text: { get: () => this.#statements[this.#at]?.text },
    });
  }

  #statementOf({ config, values, resolve, reject }: Waiting, types: unknown): Statement {
    const own = { ...config, ...(values !== undefined && { values }), queryMode: 'extended' };
    const query = new Query(own, (error, result) => {
      if (error === null || error === undefined) resolve(result);
      else {
        this.#unsendable ??= error;
        reject(error);
      }
    });
    const statement = query as unknown as Statement;
    statement._result._types ??= types;
    return statement;
  }

  override submit = (connection: Connection): Error | null => {
    const messages: Buffer[] = [];
    const recorder: unknown = Object.create(connection, {
      _send: { value: (message: Buffer) => messages.push(message) },
      sync: { value: () => undefined },
    });
    for (const statement of this.#statements) {
      statement.prepare(recorder);
      // Of a value that cannot be spelled nothing is sent, nor of what stands beside it.
      if (this.#unsendable !== null) return this.#unsendable;
    }
    connection.stream.cork();
    for (const message of messages) connection.stream.write(message);
    connection.sync();
    connection.stream.uncork();
    return null;
  };

  handleRowDescription(message: unknown): void {
    this.#statements[this.#at]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#statements[this.#at]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: unknown): void {
    this.#statements[this.#at]?.handleCommandComplete(message, connection);
    this.handleEmptyQuery(connection);
  }

  handleEmptyQuery(connection: unknown): void {
    this.#statements[this.#at]?.handleReadyForQuery(connection);
    this.#at += 1;
  }

  /** The server passes over all that stands behind a statement that fails. */
  handleError(error: Error, connection: unknown): void {
    const sent = Reflect.get(Object(connection), 'submittedNamedStatements') as Record<
      string,
      unknown
    >;
    const [failed, ...others] = this.#statements.slice(this.#at);
    this.#at = this.#statements.length;
    const after = error instanceof DatabaseError ? aftermath() : error;
    for (const { name } of others) if (name !== undefined) delete sent[name];
    failed?.handleError(error, connection);
    for (const statement of others) statement.handleError(after, connection);
  }

  handleReadyForQuery(): void {
    // Each statement was answered when it was complete.
  }
}

/** As the server says it where each statement is answered by itself. */
function aftermath(): DatabaseError {
  const error = new DatabaseError('an earlier statement of the batch failed', 0, 'error');
  error.code = '25P02';
  return error;
}
