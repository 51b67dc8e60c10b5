import { quoted } from "../../ids/ids.js";
import type { JsonLine } from "../../source/json-lines.js";
import { stringAt } from "../../source/narrow.js";
import type { ImportProblem, SourceRecord } from "../../source/source-session.js";
import { BLOB_PREFIX, type MissingBlob } from "./blobs.js";

/** Reports a problem of one line. */
export function problemAt(path: string, line: number, code: ImportProblem["code"], message: string): SourceRecord {
  return { kind: "problem", problem: { code, path, line, message } };
}

/** Reports a record of a known type whose shape does not fit. */
export function invalidRecord(path: string, { line, object }: JsonLine): SourceRecord {
  const type = quoted(stringAt(object, "type") ?? "record without a type");
  return problemAt(
    path,
    line.number,
    "invalid-record",
    `this ${type} has an unexpected shape; it was kept as a foreign entry, outside the context`,
  );
}

/** Reports a label that names no entry. */
export function pointlessLabel(path: string, line: number): SourceRecord {
  return problemAt(path, line, "invalid-record", "the label names no entry; it was left out");
}

/** Reports an image that oh-my-pi keeps in a file of its own, which is not there or cannot be read. */
export function missingBlob(path: string, line: number, { reference, reason }: MissingBlob): SourceRecord {
  const name = reference.slice(BLOB_PREFIX.length, BLOB_PREFIX.length + 12);
  return problemAt(path, line, "missing-blob", `the image ${name}… ${reason}; the reference was kept`);
}
