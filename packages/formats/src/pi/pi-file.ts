import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceParent } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, parseTime, stringAt, without } from "@bough/session-core/wire";
import { UnknownFormatError, UnknownFormatVersionError } from "../errors.js";
import { derivedId } from "../source/derived-id.js";
import { readJsonLines } from "../source/json-lines.js";

/** Newest version of pi's session files that is read; oh-my-pi uses the same numbers. */
const NEWEST_VERSION = 3;

/** A session file of pi or oh-my-pi whose first lines were read. */
export interface PiFile {
  readonly path: string;
  readonly header: JsonObject;
  readonly headerLine: number;
  /** oh-my-pi's first line: the current title, overwritten in place. */
  readonly titleSlot: JsonObject | undefined;
  /** The line of the title slot; 0: none. */
  readonly titleLine: number;
  readonly version: number;
}

/** True if the first records are of pi or oh-my-pi, in any version. */
export function isPiHead(records: readonly JsonObject[]): boolean {
  const head = records.find((record) => !isTitleSlot(record) && !isMessage(record));
  return head !== undefined && (isHeader(head) || isHarnessHeader(head));
}

/** True if a record is a message: one may precede the header if the lines of a file are out of order. */
function isMessage({ type, message }: JsonObject): boolean {
  return type === "message" && isObject(message);
}

/**
 * Reads the first lines of a session file, up to its header.
 *
 * @throws {UnknownFormatError} the first record that is neither a title slot nor a message is no header.
 * @throws {UnknownFormatVersionError} the version is newer than 3, or the file is of pi's agent harness (version 4).
 * @throws {SourceNotFoundError} the file cannot be read.
 */
export function readPiFile(path: string): PiFile {
  let [titleSlot, titleLine]: [JsonObject | undefined, number] = [undefined, 0];
  for (const line of readJsonLines(path)) {
    if (line.kind === "problem") continue;
    const { object } = line;
    if (titleSlot === undefined && isTitleSlot(object)) [titleSlot, titleLine] = [object, line.line.number];
    else if (!isMessage(object)) return { ...toPiFile(path, object, line.line.number), titleSlot, titleLine };
  }
  throw new UnknownFormatError(path, "it has no header");
}

function toPiFile(path: string, header: JsonObject, headerLine: number): Omit<PiFile, "titleSlot" | "titleLine"> {
  if (!isHeader(header) && !isHarnessHeader(header)) throw new UnknownFormatError(path, "it does not begin with a header of pi");
  const version = readVersion(header);
  if (version > NEWEST_VERSION) throw new UnknownFormatVersionError(path, "pi", version, NEWEST_VERSION);
  return { path, header, headerLine, version };
}

function readVersion(header: JsonObject): number {
  if (isHarnessHeader(header)) return numberAt(header, "version") ?? numberAt(header, "v") ?? NEWEST_VERSION + 1;
  // A missing version is 1. A version that is not a number is rejected like a newer one.
  const given = header.version ?? 1;
  const version = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  return Number.isNaN(version) ? NEWEST_VERSION + 1 : version;
}

function isHeader(record: JsonObject): boolean {
  return record.type === "session" && typeof record.id === "string" && record.id !== "";
}

function isHarnessHeader(record: JsonObject): boolean {
  return (
    record.kind === "header" &&
    typeof record.id === "string" &&
    (numberAt(record, "version") ?? numberAt(record, "v") ?? 0) > NEWEST_VERSION
  );
}

function isTitleSlot(record: JsonObject): boolean {
  return record.type === "title" && typeof record.title === "string";
}

const KNOWN = ["type", "id", "timestamp", "cwd", "title"];

/** The session's id: that of the header, or one derived from it if it is not a valid id. */
export function readSessionId(file: PiFile): SessionId {
  const id = stringAt(file.header, "id") ?? "";
  return isId(id) ? id : derivedId(id);
}

/** The session's header. `startedBy`: the session that started this one, if it is a subagent's. */
export function toSourceHeader(file: PiFile, sessionId: SessionId, startedBy: SessionId | undefined): SourceHeader {
  return {
    sessionId,
    createdAtMs: parseTime(file.header.timestamp),
    cwd: nonEmpty(stringAt(file.header, "cwd")),
    title: readTitle(file),
    kind: startedBy === undefined ? "conversation" : "subagent",
    parent: readParent(file.header, startedBy),
    metadata: without(file.header, KNOWN),
  };
}

/** The title in the title slot of an oh-my-pi file, or else in the header. */
export function readTitle({ titleSlot, header }: PiFile): string | undefined {
  return nonEmpty(titleSlot === undefined ? undefined : stringAt(titleSlot, "title")) ?? nonEmpty(stringAt(header, "title"));
}

function readParent(header: JsonObject, startedBy: SessionId | undefined): SourceParent | undefined {
  const sessionId = startedBy ?? readParentSessionId(header);
  return sessionId === undefined ? undefined : { sessionId };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

// pi names a file `<time>_<session id>.jsonl`; the time has no underscore, an id may.
const FILE_NAME = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/;

// A copy whose name was taken ends in -1, -2…; this can be separated from the id only after a UUID.
const UUID_AND_SUFFIX = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\d+)?$/i;

/**
 * The id of the session from which this one was forked. The header has the path of its file (pi; `branchedFrom` in version 1,
 * which pi's own migration drops) or its id (oh-my-pi). The file is not opened.
 */
function readParentSessionId(header: JsonObject): SessionId | undefined {
  const given = stringAt(header, "parentSession") ?? stringAt(header, "branchedFrom");
  if (given === undefined) return undefined;
  const name =
    given
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.jsonl$/, "") ?? "";
  const id = FILE_NAME.exec(name)?.[1] ?? name;
  const sessionId = UUID_AND_SUFFIX.exec(id)?.[1] ?? id;
  return isId(sessionId) ? sessionId : undefined;
}

/**
 * The model and the thinking level in the header of a file of version 1, as the entries that later versions write for them.
 * Later versions ignore these header fields, and so does this function.
 */
export function readInitialSettings({ header, version }: PiFile): readonly JsonObject[] {
  if (version >= 2) return [];
  const modelId = stringAt(header, "modelId");
  const thinkingLevel = stringAt(header, "thinkingLevel");
  const model = modelId === undefined ? [] : [{ type: "model_change", provider: stringAt(header, "provider"), modelId }];
  return thinkingLevel === undefined ? model : [...model, { type: "thinking_level_change", thinkingLevel }];
}
