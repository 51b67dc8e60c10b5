import { UnknownFormatError, UnknownFormatVersionError } from "../../errors/import-errors.js";
import { jsonLinesOf } from "../../source/json-lines.js";
import { type JsonObject, numberAt } from "../../source/narrow.js";

/** Newest version of pi's session files that is read; oh-my-pi uses the same numbers. */
const NEWEST_VERSION = 3;

/** A session file of pi or oh-my-pi whose first lines were read. */
export interface PiFile {
  readonly path: string;
  readonly header: JsonObject;
  readonly headerLine: number;
  /** oh-my-pi's first line: the title as it stands now, overwritten in place. */
  readonly titleSlot: JsonObject | undefined;
  readonly version: number;
}

/** Whether these first records are of pi or oh-my-pi, in any version. */
export function isPiHead(records: readonly JsonObject[]): boolean {
  const [first, second] = records;
  if (first === undefined) return false;
  const head = isTitleSlot(first) ? second : first;
  return head !== undefined && (isHeader(head) || isHarnessHeader(head));
}

/**
 * Reads the first lines of a session file.
 *
 * @throws {UnknownFormatError} the first records are no title slot and no header.
 * @throws {UnknownFormatVersionError} the version is newer than 3, or the file is of pi's agent harness (version 4).
 * @throws {SourceNotFoundError} the file cannot be read.
 */
export function readPiFile(path: string): PiFile {
  let titleSlot: JsonObject | undefined;
  for (const line of jsonLinesOf(path)) {
    if (line.kind === "problem") continue;
    const { object } = line;
    if (titleSlot === undefined && isTitleSlot(object)) titleSlot = object;
    else return fileOf(path, object, line.line.number, titleSlot);
  }
  throw new UnknownFormatError(path, "it has no header");
}

function fileOf(path: string, header: JsonObject, headerLine: number, titleSlot: JsonObject | undefined): PiFile {
  if (!isHeader(header) && !isHarnessHeader(header)) throw new UnknownFormatError(path, "its first record is no pi header");
  const version = versionOf(header);
  if (version > NEWEST_VERSION) throw new UnknownFormatVersionError(path, "pi", version, NEWEST_VERSION);
  return { path, header, headerLine, titleSlot, version };
}

function versionOf(header: JsonObject): number {
  if (isHarnessHeader(header)) return numberAt(header, "version") ?? numberAt(header, "v") ?? NEWEST_VERSION + 1;
  // A missing version is 1. One that is no number was written by nobody we know, so it is refused like a newer one.
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
