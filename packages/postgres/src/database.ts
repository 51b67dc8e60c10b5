import { createHash, randomUUID } from "node:crypto";
import { BoughError, ConnectionLostError, type SessionId, StoreClosedError, StoreReadOnlyError } from "@bough/session-core";
import { bind, type Query } from "@bough/session-core/engine";
import { type Attempts, CommitMarks, type Held } from "./attempts.js";
import { ChangeFeed } from "./changes.js";
import { fromColumn, type PgClient, toParameter } from "./driver.js";
import { TABLE_KEYS, VERSION_TABLE } from "./schema.js";
import { WORDS_FUNCTION_NAME } from "./search-schema.js";
import { faultOf, isTimedOut, toLostError } from "./server-errors.js";

/** Runs queries: on any free connection, or on the one of a transaction. */
export interface Database {
  /** Bound to `p.tenant` of every query. */
  readonly tenant: string;
  /** Returns the first row, or undefined. */
  get<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R | undefined>;
  /** Returns all rows. */
  all<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R[]>;
  /** Runs a statement that returns no rows; returns the number of changed rows. */
  run<P extends object>(query: Query<P, unknown>, parameters: P): Promise<number>;
  /**
   * Like `get`, for a statement that writes. If it is on its own and the connection breaks, `findDone` says whether it was done: it reads
   * the row that it would have returned. If there is none, the statement is sent again.
   */
  once<P extends object, R>(query: Query<P, R>, parameters: P, findDone: () => Promise<R | undefined>): Promise<R | undefined>;
  /** Checks that this program may write to the schema of today. A statement with `isWritable` that did nothing asks why. @throws {NewerStoreError} */
  requireWritable(): Promise<void>;
}

/** The driver's result of a statement. */
interface Answer {
  readonly rows: Record<string, unknown>[];
  readonly rowCount: number | null;
}

/** The parameters that all queries of a store share. */
interface Common extends StatementContext {
  readonly tenant: string;
  /** Of the schema that this program knows; bound to `p.version` of every query. */
  readonly version: number;
  /** True if nothing may be written. The server refuses writes as well, unless a pooler does not pass on this setting. */
  readonly readOnly?: boolean;
}

abstract class QueryRunner implements Database {
  protected readonly common: Common;

  constructor(common: Common) {
    this.common = common;
  }

  get tenant(): string {
    return this.common.tenant;
  }

  get readOnly(): boolean {
    return this.common.readOnly === true;
  }

  async get<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R | undefined> {
    return (await this.all(query, parameters))[0];
  }

  async all<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R[]> {
    return (await this.#query(query, parameters)).rows.map((row) => fromRow<R>(row));
  }

  async run<P extends object>(query: Query<P, unknown>, parameters: P): Promise<number> {
    return (await this.#query(query, parameters)).rowCount ?? 0;
  }

  async once<P extends object, R>(query: Query<P, R>, parameters: P, _findDone: () => Promise<R | undefined>): Promise<R | undefined> {
    return this.get(query, parameters);
  }

  /** A transaction that writes has checked it before its first statement. */
  async requireWritable(): Promise<void> {}

  #query(query: Query<never, unknown>, parameters: object): Promise<Answer> {
    return this.send(this.statement(query, parameters), effectOf(query, parameters));
  }

  protected statement(query: Query<never, unknown>, parameters: object): Statement {
    const { tenant, schema, version } = this.common;
    return toStatement(query, { ...parameters, tenant, schema, version }, this.common);
  }

  protected abstract send(statement: Statement, effect: Effect): Promise<Answer>;
}

function fromRow<R>(row: Record<string, unknown>): R {
  for (const column in row) row[column] = fromColumn(row[column]);
  // The query declares the type of its rows.
  return row as R;
}

/** The queries of a transaction, all on its connection. */
class Transaction extends QueryRunner {
  readonly #client: PgClient;
  /** True if it has sent a statement that changes rows. */
  hasWritten = false;
  /** The sessions that it writes to. */
  readonly sessions = new Set<SessionId>();

  constructor(client: PgClient, common: Common) {
    super(common);
    this.#client = client;
  }

  protected async send(statement: Statement, { writes, session }: Effect): Promise<Answer> {
    this.hasWritten ||= writes;
    if (session !== undefined) this.sessions.add(session);
    return this.#client.query(statement);
  }
}

/** The queries of a transaction that was begun on this connection. */
export function transactionOn(client: PgClient, common: Common): Database {
  return new Transaction(client, common);
}

/** A store's connections to its server. */
export class PgDatabase extends QueryRunner {
  readonly changes: ChangeFeed;
  readonly #attempts: Attempts;
  readonly #marks: CommitMarks;
  #isClosed = false;

  constructor(attempts: Attempts, common: Common) {
    super(common);
    this.#attempts = attempts;
    this.#marks = new CommitMarks(attempts, common);
    this.changes = new ChangeFeed(attempts, this);
  }

  /** The address of the server without its password. */
  get label(): string {
    return this.#attempts.place.label;
  }

  /**
   * A query of its own. A read is tried again when its connection breaks, and a write that is repeatable. Another write is not, because
   * it is not known whether it happened: it throws `ConnectionLostError` with `written: "unknown"`. `write` and `once` find that out.
   */
  protected async send(statement: Statement, effect: Effect): Promise<Answer> {
    return this.#send((client) => client.query(statement), effect);
  }

  /**
   * Like `get`. Sends another statement before it, on the same connection, in a transaction of its own, without waiting for its answer: both
   * take one round trip. Says whether the other statement was done, too; it must be repeatable.
   */
  async getAfter<B extends object, P extends object, R>(
    other: Query<B, unknown>,
    ofOther: B,
    query: Query<P, R>,
    parameters: P,
  ): Promise<{ readonly row: R | undefined; readonly isOtherDone: boolean }> {
    const [first, second] = [this.statement(other, ofOther), this.statement(query, parameters)];
    let isOtherDone = false;
    const { rows } = await this.#send(
      async (client) => {
        const [before, answer] = await Promise.allSettled([client.query(first), client.query(second)]);
        isOtherDone = before.status === "fulfilled";
        if (answer.status === "rejected") throw answer.reason;
        return answer.value;
      },
      effectOf(query, parameters),
    );
    return { row: rows.map((row) => fromRow<R>(row))[0], isOtherDone };
  }

  async #send(attempt: (client: PgClient) => Promise<Answer>, { writes, isRepeatable, session }: Effect): Promise<Answer> {
    if (writes) this.#requireMode();
    let lost: ConnectionLostError | undefined;
    const answered = this.#run(async (client, held) => {
      try {
        return await attempt(client);
      } catch (error) {
        if (writes && faultOf(error) === "lost" && !isTimedOut(error)) lost = toLostError(error, this.#attempts.place, "unknown");
        if (lost === undefined || isRepeatable) throw error;
        held.isBroken = true;
        throw lost;
      }
    });
    const answer = await answered.catch((error) => {
      // An attempt that broke may have done it, whatever the last one says.
      throw lost === undefined ? error : unlessAway(error, lost);
    });
    if (session !== undefined) this.changes.written([session]);
    return answer;
  }

  override async once<P extends object, R>(
    query: Query<P, R>,
    parameters: P,
    findDone: () => Promise<R | undefined>,
  ): Promise<R | undefined> {
    for (;;) {
      try {
        return await this.get(query, parameters);
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error;
        const done = await afterLoss(error, findDone);
        if (done !== undefined) return done;
      }
    }
  }

  /**
   * Runs `body` in one transaction: all that it writes, or, if it throws, nothing. Every query of it must use the given database.
   *
   * `body` is called again if the transaction was rolled back because of a deadlock or a broken connection, so it must change nothing
   * but the database. If the connection breaks while the transaction is committed, another connection reads its outcome.
   */
  async write<T>(body: (transaction: Database) => Promise<T>): Promise<T> {
    return this.#write(body, "BEGIN");
  }

  /** The same, and all queries of it use one snapshot. It is called again if another transaction has changed a row that it changes. */
  async writeOnSnapshot<T>(body: (transaction: Database) => Promise<T>): Promise<T> {
    // The lock first: otherwise the snapshot could be older than a change of the schema that the transaction waits for.
    const lock = `LOCK TABLE "${this.common.schema}".store_version IN ACCESS SHARE MODE`;
    return this.#write(body, `BEGIN ISOLATION LEVEL REPEATABLE READ; ${lock}`);
  }

  async #write<T>(body: (transaction: Database) => Promise<T>, begin: string): Promise<T> {
    this.#requireMode();
    for (;;) {
      const mark = randomUUID();
      const attempt = await this.#run(async (client, held) => {
        await this.#begin(client, begin);
        const transaction = new Transaction(client, this.common);
        const result = await rollbackAfter(client, () => body(transaction));
        const outcome = await this.#commit(client, transaction, mark);
        held.isBroken = outcome === "unknown";
        return { result, outcome, sessions: transaction.sessions };
      });
      if (attempt.outcome === "unknown" && !(await this.#marks.wasCommitted(mark))) continue;
      this.changes.written(attempt.sessions);
      return attempt.result;
    }
  }

  /**
   * Begins a transaction that writes. Reading the version holds a lock until the end of the transaction, which a change of the schema waits for: so
   * the schema stays as it is.
   */
  async #begin(client: PgClient, begin: string): Promise<void> {
    const { schema, version } = this.common;
    const question = `${begin}; SELECT ${version} >= min_writer AS ok FROM "${schema}".store_version`;
    const answers: unknown = await rollbackAfter(client, () => client.query(question));
    if (isWritableAnswer(answers)) return;
    await client.query("ROLLBACK");
    await this.#attempts.checkSchema(client);
    await this.#begin(client, begin);
  }

  override async requireWritable(): Promise<void> {
    this.#requireMode();
    await this.#run((client) => this.#attempts.checkSchema(client));
  }

  async #commit(client: PgClient, transaction: Transaction, mark: string): Promise<"committed" | "unknown"> {
    if (transaction.hasWritten) return this.#marks.commit(client, mark);
    await client.query("COMMIT");
    return "committed";
  }

  /** @throws {StoreReadOnlyError} the store was opened for reading. Nothing is sent. */
  #requireMode(): void {
    if (this.readOnly) throw new StoreReadOnlyError(this.label, { hint: "Open the store with another mode than read-only." });
  }

  /** Runs `body` in one read transaction, so that all its queries use the same snapshot. */
  async read<T>(body: (transaction: Database) => Promise<T>): Promise<T> {
    return this.#run(async (client) => {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const result = await rollbackAfter(client, () => body(new Transaction(client, this.common)));
      await client.query("COMMIT");
      return result;
    });
  }

  async #run<T>(attempt: (client: PgClient, held: Held) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StoreClosedError(this.label);
    return this.#attempts.run(attempt);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#marks.clear(), this.changes.close()]);
    await this.#attempts.end();
  }
}

/** Statements that are sent together have an array of answers. */
function isWritableAnswer(answers: unknown): boolean {
  const last: unknown = Array.isArray(answers) ? answers.at(-1) : undefined;
  const rows: unknown = typeof last === "object" && last !== null && "rows" in last ? last.rows : undefined;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return typeof row === "object" && row !== null && "ok" in row && row.ok === true;
}

/** Determines the outcome of a write whose connection broke. If the server does not come back, the outcome is unknown: throws `lost`. */
export async function afterLoss<T>(lost: ConnectionLostError, findOut: () => Promise<T>): Promise<T> {
  try {
    return await findOut();
  } catch (error) {
    throw unlessAway(error, lost);
  }
}

const AWAY: ReadonlySet<string> = new Set(["CONNECTION_LOST", "SERVER_UNAVAILABLE", "SERVER_FULL", "POOL_EXHAUSTED", "STORE_BUSY"]);

/** Returns the error of an operation after one whose outcome is not known; `lost` if it says only that the server cannot be asked. */
function unlessAway(error: unknown, lost: ConnectionLostError): unknown {
  return error instanceof BoughError && AWAY.has(error.code) ? lost : error;
}

/** Runs a part of a transaction; rolls it back if it throws. */
async function rollbackAfter<T>(client: PgClient, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    // A broken connection cannot be rolled back; the server does that.
    if (faultOf(error) !== "lost") await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** A statement with its parameters, as the driver takes it. */
interface Statement {
  /** The server keeps it prepared under this name. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The effect of a statement on the server. */
interface Effect {
  /** True if it changes rows. */
  readonly writes: boolean;
  readonly isRepeatable: boolean;
  /** The session that it writes to, if it says so. */
  readonly session: SessionId | undefined;
}

/** The settings of a store on which its statements depend. */
interface StatementContext {
  /** The schema with the tables. */
  readonly schema: string;
  /** Statements may be kept prepared; a query whose text differs from call to call is not. */
  readonly prepare: boolean;
}

/** The statement of a query, with the schema before the names of the tables. */
function toStatement(query: Query<never, unknown>, parameters: object, { schema, prepare }: StatementContext): Statement {
  const { sql, slots } = query.compile();
  const values = bind(slots, parameters).map(toParameter);
  if (query.isDynamic) return { text: withSchema(sql, schema), values };
  const { text, name } = fixedText(sql, schema);
  return prepare ? { name, text, values } : { text, values };
}

// Queries name the tables without their schema, which differs from store to store. A table is named after one of these words, and after nothing
// else; `FOR UPDATE`, `DO UPDATE` and `IS DISTINCT FROM` are followed by other names. What is missed does not run: no table is in the search path.
const OWN_NAMES = [...TABLE_KEYS.map(([name]) => name), VERSION_TABLE, WORDS_FUNCTION_NAME].join("|");
const NAMED = new RegExp(String.raw`\b(FROM|JOIN|INTO|UPDATE)(\s+)"?(${OWN_NAMES})"?(?![\w".])`, "gi");

/** SQL in which each table of the store has its schema. */
function withSchema(text: string, schema: string): string {
  return text.replace(NAMED, `$1$2"${schema}"."$3"`);
}

interface FixedText {
  readonly text: string;
  /** The name under which the server keeps it prepared: the same text has the same name in every process. */
  readonly name: string;
}

/** By schema, then by the text without it. */
const fixedTexts = new Map<string, Map<string, FixedText>>();

function fixedText(sql: string, schema: string): FixedText {
  const texts = fixedTexts.get(schema) ?? new Map<string, FixedText>();
  fixedTexts.set(schema, texts);
  const known = texts.get(sql);
  if (known !== undefined) return known;
  const text = withSchema(sql, schema);
  const fixed = { text, name: `bough_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` };
  texts.set(sql, fixed);
  return fixed;
}

/** Returns the effect of a query. By convention the parameter `session` of a query is the session that it reads or writes. */
function effectOf(query: Query<never, unknown>, parameters: object): Effect {
  const { sql: text } = query.compile();
  const writes = query.isDynamic ? isWrite(text) : isKnownWrite(text);
  const session = "session" in parameters && typeof parameters.session === "string" ? parameters.session : undefined;
  return { writes, isRepeatable: query.isRepeatable ?? !writes, session: writes ? session : undefined };
}

const knownWrites = new Map<string, boolean>();

function isKnownWrite(text: string): boolean {
  const known = knownWrites.get(text) ?? isWrite(text);
  knownWrites.set(text, known);
  return known;
}

/** True if a statement changes rows. `SELECT … FOR UPDATE` does not. */
function isWrite(text: string): boolean {
  return /\b(?:insert\s+into|delete\s+from|merge\s+into|copy\s+\S+.*\sfrom|update\s+\S+(?:\s+as)?(?:\s+\S+)?\s+set)\b/is.test(text);
}
