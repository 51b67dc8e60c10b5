import {
  BoughError,
  ConnectionLostError,
  PoolExhaustedError,
  ServerError,
  StoreBusyError,
  StoreDamagedError,
  StoreFullError,
  StoreReadOnlyError,
  TooLargeError,
} from "@bough/session-core";
import { MAX_JSON_LENGTH, oneLine } from "@bough/session-core/engine";

/** The names and limits of a store that its errors mention. */
export interface Place {
  /** The address without the password. */
  readonly label: string;
  readonly database: string;
  readonly schema: string;
  /** A role that may own the tables; undefined: see migrate.ts. */
  readonly owner?: string | undefined;
  readonly connections: number;
  readonly waitMs: number;
}

/** True if the server reported this error with this SQLSTATE; without `state`, with any. */
export function isServerError(error: unknown, state?: string): error is Error & { readonly code: string } {
  if (!(error instanceof Error && "code" in error && "severity" in error)) return false;
  return state === undefined || error.code === state;
}

/** The code of an error: an SQLSTATE, or one of the system (`ECONNREFUSED`). */
function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** True if a statement failed because the tables are not those that it was written for. */
export function isMisfit(error: unknown): boolean {
  // A missing schema, table, column, function or unique key; a wrong type; a constraint or a NOT NULL that was not there.
  return isServerError(error) && /^(3F000|42P01|42703|42883|42P10|42804|23502|23514)$/.test(error.code);
}

/**
 * The reason why an attempt failed. `conflict`: the server refused it because of another transaction. `stale`: a statement was prepared
 * before a migration. `starting`: the server accepts no connections yet, or any more. `full`: it has no connection left. `lost`: the
 * connection broke, so that the outcome of the attempt is unknown. `failed`: trying again does not help.
 */
export type Fault = "conflict" | "stale" | "starting" | "full" | "lost" | "failed";

const CONFLICTS = ["40001", "40P01"];
// Shutdown, crash, a dropped database, a timeout of a connection or transaction, and all of class 08; then errors of sockets.
const LOST =
  /^(57P0[1245]|25P0[34]|08\w{3}|ECONN(RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN|RESET)|ENOTCONN|EADDRNOTAVAIL|EPROTO|ERR_(SSL|STREAM)_\w+)$/;
const LOST_MESSAGE = /^(Connection terminated|Client has encountered a connection error|timeout expired$)/;
const REFUSED = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|57P0[123]|08006)$/;

/** Classifies what a statement threw. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error) || error instanceof BoughError) return "failed";
  const code = codeOf(error);
  if (CONFLICTS.includes(code)) return "conflict";
  if (code === "26000" || code === "42P05" || (code === "0A000" && /cached plan/.test(error.message))) return "stale";
  return LOST.test(code) || LOST_MESSAGE.test(error.message) ? "lost" : "failed";
}

/** True if the server ended a transaction because of its time, and with it the connection: nothing of it was written. */
export function isTimedOut(error: unknown): boolean {
  return isServerError(error, "25P04");
}

/** Classifies what an attempt to connect threw. Nothing was sent. */
export function connectFaultOf(error: unknown): Fault {
  if (!(error instanceof Error) || error instanceof BoughError) return "failed";
  const code = codeOf(error);
  if (code === "53300") return "full";
  return REFUSED.test(code) || /^Connection terminated unexpectedly/.test(error.message) ? "starting" : "failed";
}

/** The error that a caller gets when connecting failed. Nothing was sent. */
export function toConnectError(error: unknown, place: Place): unknown {
  if (!(error instanceof Error) || error instanceof BoughError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  const reason = oneLine(error.message).replace(/\.$/, "");
  if (error.message === POOL_TIMEOUT) return new PoolExhaustedError(place.connections, place.waitMs, cause);
  if (code === "53300") return new ServerError("SERVER_FULL", place.label, reason, cause);
  if (code === "3D000")
    return new ServerError("DATABASE_NOT_FOUND", place.label, `the server has no database ${place.database}`, {
      ...cause,
      hint: `Create it: createdb ${place.database}`,
    });
  if (code.startsWith("28") || /^SASL|password/i.test(error.message)) return toLoginError(error, reason, place);
  if (isServerError(error) && !/^(57|08)/.test(code)) return toServerError(error, place);
  return new ServerError("SERVER_UNAVAILABLE", place.label, REASONS[code] ?? reason, cause);
}

/** Messages of `pg-pool` and `pg` have no code. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "no server listens there (ECONNREFUSED)",
  ENOENT: "no server has a socket there (ENOENT)",
  ENOTFOUND: "its host name is not known (ENOTFOUND)",
  EAI_AGAIN: "its host name cannot be looked up now (EAI_AGAIN)",
  EHOSTUNREACH: "there is no way to its host (EHOSTUNREACH)",
  ENETUNREACH: "there is no way to its network (ENETUNREACH)",
  ETIMEDOUT: "it did not answer (ETIMEDOUT)",
};

function toLoginError(error: Error, reason: string, place: Place): unknown {
  if (/client password must be a (non-empty )?string|empty password|Password must be a string/.test(error.message)) {
    return new ServerError("SERVER_LOGIN", place.label, "it wants a password, and none was given", { cause: error });
  }
  const isUnencrypted = /no encryption|SSL off/.test(error.message);
  return new ServerError("SERVER_LOGIN", place.label, reason, {
    cause: error,
    ...(isUnencrypted ? { hint: "Add ?sslmode=require to the url." } : {}),
  });
}

/** Converts what a statement threw to an error of a store. Returns others unchanged. */
export function toServerError(error: unknown, place: Place): unknown {
  if (!(error instanceof Error) || error instanceof BoughError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  const reason = oneLine(error.message).replace(/\.$/, "");
  switch (code) {
    case "40001":
    case "40P01":
    case "55P03":
      return new StoreBusyError(place.waitMs, cause);
    case "25006":
      return new StoreReadOnlyError(place.label, { ...cause, hint: READ_ONLY_HINT });
    case "42501":
      return new ServerError("SERVER_RIGHTS", place.label, reason, cause);
    case "53100":
      return new StoreFullError(place.label, cause);
    case "54000":
      return /\bindex row\b/.test(reason)
        ? new ServerError("SERVER_REFUSED", place.label, `${reason} (${code})`, cause)
        : new TooLargeError("A text", MAX_JSON_LENGTH, cause);
    case "57014":
      return new ServerError("SERVER_TIMEOUT", place.label, reason, cause);
    case "3F000":
    case "42P01":
      return new ServerError("SERVER_UNSUITABLE", place.label, `the schema ${place.schema} is gone or incomplete (${reason})`, cause);
    case "26000":
    case "42P05":
      return new ServerError("SERVER_UNSUITABLE", place.label, `a pooler before it does not keep prepared statements (${reason})`, {
        ...cause,
        hint: NO_PREPARE,
      });
    case "XX001":
    case "XX002":
      return new StoreDamagedError(place.label, cause);
    default:
      // Who inserts a row that may be there handles 23505; what is not defined is a fault of this program.
      return isServerError(error) && !/^(23505|42...)$/.test(code)
        ? new ServerError("SERVER_REFUSED", place.label, `${reason} (${code})`, cause)
        : error;
  }
}

/** The error of an operation whose connection broke, when trying again did not help. */
export function toLostError(error: unknown, place: Place, written: "nothing" | "unknown"): ConnectionLostError {
  return new ConnectionLostError(place.label, written, { cause: error });
}

export const READ_ONLY_HINT = "Connect to the server that takes writes, or open the store with the mode read-only.";
const NO_PREPARE = "Add ?prepare=false to the url.";
