import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { SourceNotFoundError, SourceUnreadableError } from "../errors.js";
import { SourceFileReader } from "../source/source-file.js";

/** The prefix of a reference to data that oh-my-pi moved to a separate file; 64 hex digits follow. */
export const BLOB_PREFIX = "blob:sha256:";

const BLOB = /^blob:sha256:([0-9a-f]{64})$/;

/** The number of parent folders of a session file that are searched: the blobs are two levels up, six for a nested subagent. */
const FOLDERS_UP = 8;

/** Deepest nesting that is searched, the depth that an entry can have. */
const MAX_DEPTH = 500;

/** The total size limit of the blobs of one record, in bytes: a record must fit into one string. */
const MOST_BYTES = 1 << 28;

/** A record with its blobs inserted, and the references that could not be read. */
interface RestoredRecord {
  readonly record: JsonObject;
  readonly missing: readonly MissingBlob[];
}

/** A reference that stays in the record, and the reason. */
export interface MissingBlob {
  readonly reference: string;
  readonly reason: string;
}

/**
 * Inserts the data that oh-my-pi stores in separate files: images anywhere in the record, and image addresses inside provider
 * data. A reference without a file stays unchanged.
 */
export function restoreBlobs(record: JsonObject, sessionPath: string): RestoredRecord {
  const missing: MissingBlob[] = [];
  let room = MOST_BYTES;
  const bytesOf = (reference: string): Buffer | undefined => {
    const found = readBlob(reference, sessionPath, room);
    if (typeof found === "string") missing.push({ reference, reason: found });
    else room -= found.length;
    return typeof found === "string" ? undefined : found;
  };
  return { record: restoreMembers(record, bytesOf, 0), missing };
}

type BytesOf = (reference: string) => Buffer | undefined;

function restoreMembers(object: JsonObject, bytesOf: BytesOf, depth: number): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, restoreValue(value, key, object, bytesOf, depth + 1)]));
}

function restoreValue(value: unknown, key: string, owner: JsonObject, bytesOf: BytesOf, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => restoreValue(item, key, owner, bytesOf, depth + 1));
  if (isObject(value)) return restoreMembers(value, bytesOf, depth);
  const encoding = typeof value === "string" && BLOB.test(value) ? encodingOf(key, owner) : undefined;
  return typeof value === "string" && encoding !== undefined ? (bytesOf(value)?.toString(encoding) ?? value) : value;
}

// Only in the fields that oh-my-pi writes: a user may have typed the same text into a message.
function encodingOf(key: string, owner: JsonObject): "base64" | "utf8" | undefined {
  if (key === "image_url") return "utf8";
  if (key === "result" && owner.type === "image_generation_call") return "base64";
  const isImage = owner.type === "image" || (typeof owner.mimeType === "string" && /^image\//i.test(owner.mimeType));
  return key === "data" && isImage ? "base64" : undefined;
}

/** The bytes of a blob, or the reason why it cannot be read. */
function readBlob(reference: string, sessionPath: string, room: number): Buffer | string {
  const hash = BLOB.exec(reference)?.[1] ?? "";
  let reason = "is in no blobs folder above the session";
  let folder = dirname(sessionPath);
  for (let up = 0; up < FOLDERS_UP; up++, folder = dirname(folder)) {
    const found = read(join(folder, "blobs", hash), room);
    // A file that does not match its hash would insert another image.
    if (Buffer.isBuffer(found) && createHash("sha256").update(found).digest("hex") === hash) return found;
    if (typeof found === "string") reason = found;
  }
  return reason;
}

function read(path: string, room: number): Buffer | string | undefined {
  try {
    const file = new SourceFileReader(path);
    try {
      return file.bytes > room ? `has ${file.bytes} bytes, too many for one record` : file.bytesAt(0, file.bytes);
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof SourceNotFoundError) return undefined;
    if (error instanceof SourceUnreadableError) return `cannot be read: ${error.reason} (${path})`;
    throw error;
  }
}
