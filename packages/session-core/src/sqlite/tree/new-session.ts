import type { ValidatedEntry } from "../../entry/validate.js";
import { SessionNotFoundError } from "../../errors/session-errors.js";
import type { SessionId } from "../../ids/ids.js";
import { MAIN_LEAF, type NewSession, type OpenedSession } from "../../port/records.js";
import type { Write } from "../../port/writes.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { findSessionRow, insertNewSession, type SessionRef } from "../sessions/session-rows.js";
import { commitBatch } from "./commit.js";
import { findLeaf, openLeaf, readLeaf } from "./leaves.js";

/** Writes in the transaction that creates a session, at its leaf `main`. */
export interface FirstWrites {
  readonly writes: readonly Write[];
  readonly validateEntry: (given: unknown) => ValidatedEntry;
  readonly fileTools: FileTools;
}

/** Inserts a session with its first writes. Call it inside `write`. @throws {SessionExistsError | InvalidEntryError} */
export function createSession(connection: Connection, given: NewSession, first: FirstWrites | undefined): SessionRef {
  const session = insertNewSession(connection, given);
  writeFirst(connection, session, first);
  return session;
}

/** Does the first writes of a session at its leaf `main`. Call it inside `write`. */
export function writeFirst(connection: Connection, session: SessionRef, first: FirstWrites | undefined): void {
  if (first === undefined) return;
  const { writes, validateEntry, fileTools } = first;
  const seen = readLeaf(connection, session, MAIN_LEAF);
  commitBatch(connection, { sessionId: session, leafName: MAIN_LEAF, seen, onConflict: "error", writes }, validateEntry, fileTools);
}

/**
 * Returns a session and its leaf, or undefined if one of them has to be created. Call it inside `read`.
 *
 * @throws {SessionNotFoundError} the session is unknown, and `mayCreate` is false.
 */
export function findOpened(connection: Connection, id: SessionId, leafName: string, mayCreate: boolean): OpenedSession | undefined {
  const session = findSessionRow(connection, id);
  if (session === undefined && !mayCreate) throw new SessionNotFoundError(id);
  if (session === undefined || findLeaf(connection, session.seq, leafName) === undefined) return undefined;
  const row = { id, seq: session.seq };
  return { row, leaf: readLeaf(connection, row, leafName) };
}

/**
 * Returns a session and its leaf. Creates the leaf at the position of `main` if it is missing, and the session if it is unknown and
 * `missing` is given. Call it inside `write`.
 */
export function openOrCreate(
  connection: Connection,
  id: SessionId,
  leafName: string,
  missing: { readonly session: NewSession; readonly first: FirstWrites | undefined } | undefined,
): OpenedSession {
  const found = findSessionRow(connection, id);
  if (found === undefined && missing === undefined) throw new SessionNotFoundError(id);
  const seq = found?.seq ?? createSession(connection, { ...missing?.session, id }, missing?.first).seq;
  const row = { id, seq };
  return { row, leaf: openLeaf(connection, row, leafName, readLeaf(connection, row, MAIN_LEAF)) };
}
