import type { ReadingPosition, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { readHeadOnce } from "../source/json-lines.js";
import type { SourceFolders } from "../source/source-folders.js";
import type { SourceFormat } from "../source/source-format.js";

/** The format of a file; undefined: none of them. */
export function detectFormat(path: string, formats: readonly SourceFormat[], folders: SourceFolders): SourceFormat | undefined {
  const head = readHeadOnce(path, folders);
  return formats.find((format) => format.detects(head, folders));
}

/** The sessions of a file as an import reads them, in this thread. `reads`, `earlier`: as in `SourceFormat.sessions`. */
export function* sessionsOfFile(
  path: string,
  format: SourceFormat,
  folders: SourceFolders,
  reads?: (path: string) => boolean,
  earlier?: (path: string) => ReadingPosition | undefined,
): Generator<SourceSession, void, void> {
  // A file of ours says itself what it is, and brings back sessions of empty messages too.
  const isOwn = isOurs(format);
  for (const session of format.sessions(path, folders, reads, earlier))
    yield isOwn ? session : withEmptyCheck(session, session.path ?? path);
}

/** A session whose first records are read. */
export interface BegunSession {
  /** Its first call of `records` continues where the reading stands. */
  readonly session: SourceSession;
  /** Ends the reading where nobody went on with it: a reading thread would wait for it for ever. */
  close(): void;
}

/**
 * Reads a session up to its first record that is no header and no setting. undefined: there is none, so it has no conversation yet. A file of
 * ours brings back sessions without entries too.
 */
export function beginSession(session: SourceSession, format: SourceFormat): BegunSession | undefined {
  if (isOurs(format)) return wholeSession(session);
  const records = session.records()[Symbol.iterator]();
  const settings: SourceRecord[] = [];
  for (let next = records.next(); next.done !== true; next = records.next()) {
    settings.push(next.value);
    if (!isSetting(next.value)) return { session: continued(session, settings, records), close: () => void records.return?.() };
  }
  return undefined;
}

/** A session of which nothing is read. */
export function wholeSession(session: SourceSession): BegunSession {
  return { session, close() {} };
}

function continued(session: SourceSession, read: readonly SourceRecord[], rest: Iterator<SourceRecord>): SourceSession {
  const { header, path, position } = session;
  let isFirst = true;
  return {
    header,
    path,
    get revision() {
      return session.revision;
    },
    records(from) {
      if (from !== undefined || !isFirst) return session.records(from);
      isFirst = false;
      return chain(read, rest);
    },
    ...(position === undefined ? {} : { position: () => session.position?.() }),
  };
}

function* chain(read: readonly SourceRecord[], rest: Iterator<SourceRecord>): Generator<SourceRecord> {
  try {
    yield* read;
    for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
  } finally {
    rest.return?.();
  }
}

/** True for a record of which a session without others has nothing to show. */
function isSetting(record: SourceRecord): boolean {
  switch (record.kind) {
    case "entry":
      return isSettingsPayload(record.payload);
    case "problem":
    case "open":
      return false;
    case "label":
    case "leaf":
    case "merged":
    case "title":
    case "value":
      return true;
  }
}

function isSettingsPayload(payload: unknown): boolean {
  if (!isObject(payload)) return false;
  const { type, message } = payload;
  return type === "model_change" || type === "thinking_level_change" || (isObject(message) && message.role === "system");
}

function isOurs({ name }: SourceFormat): boolean {
  return name === "bough";
}

/** The session, with a problem at the end of a first reading if it has messages and none of them has any content. */
function withEmptyCheck(session: SourceSession, path: string): SourceSession {
  const { header, path: own, position } = session;
  return {
    header,
    path: own,
    get revision() {
      return session.revision;
    },
    *records(from) {
      let messages = 0;
      let isEmpty = from === undefined;
      for (const record of session.records(from)) {
        if (isEmpty && record.kind === "entry" && isObject(record.payload) && isObject(record.payload.message)) {
          messages += 1;
          isEmpty = isEmptyMessage(record.payload.message);
        }
        yield record;
      }
      if (isEmpty && messages > 0) yield { kind: "problem", problem: { code: "invalid-record", path, line: null, message: EMPTY } };
    },
    ...(position === undefined ? {} : { position: () => session.position?.() }),
  };
}

const EMPTY = "every message of the session is empty; the file may be of another program, or of a version that is not known";

function isEmptyMessage({ role, content, errorMessage }: JsonObject): boolean {
  return (
    role !== "bashExecution" &&
    errorMessage === undefined &&
    (content === undefined || content === "" || (Array.isArray(content) && content.length === 0))
  );
}
