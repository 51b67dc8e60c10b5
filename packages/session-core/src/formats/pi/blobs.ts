import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../source/narrow.js";

/** How a text that oh-my-pi moved out of a session file starts; 64 hex digits follow. */
export const BLOB_PREFIX = "blob:sha256:";

const BLOB = /^blob:sha256:([0-9a-f]{64})$/;

/** Folders above a session file that are searched: the agent's folder is two up, six from a nested subagent. */
const FOLDERS_UP = 8;

/** Deepest nesting that is searched, the depth that an entry can have. */
const MAX_DEPTH = 500;

/** A record with the blobs put back that were found, and the references that were not. */
export interface Restored {
  readonly record: JsonObject;
  readonly missing: readonly string[];
}

/**
 * Puts back what oh-my-pi keeps in files beside its sessions: images, wherever in the record they are (regression
 * R26), and the image addresses inside provider data. A reference that leads nowhere stays as it is.
 */
export function withBlobs(record: JsonObject, sessionPath: string): Restored {
  const missing: string[] = [];
  const bytesOf = (reference: string): Buffer | undefined => {
    const bytes = blobAt(reference, sessionPath);
    if (bytes === undefined) missing.push(reference);
    return bytes;
  };
  return { record: restoredMembers(record, bytesOf, 0), missing };
}

type BytesOf = (reference: string) => Buffer | undefined;

function restoredMembers(object: JsonObject, bytesOf: BytesOf, depth: number): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, restored(value, key, object, bytesOf, depth + 1)]));
}

function restored(value: unknown, key: string, owner: JsonObject, bytesOf: BytesOf, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => restored(item, key, owner, bytesOf, depth + 1));
  if (isObject(value)) return restoredMembers(value, bytesOf, depth);
  const encoding = typeof value === "string" && BLOB.test(value) ? encodingOf(key, owner) : undefined;
  return typeof value === "string" && encoding !== undefined ? (bytesOf(value)?.toString(encoding) ?? value) : value;
}

// Only at the places that oh-my-pi writes to: a person may well have typed the same text into a message.
function encodingOf(key: string, owner: JsonObject): "base64" | "utf8" | undefined {
  if (key === "image_url") return "utf8";
  if (key === "result" && owner.type === "image_generation_call") return "base64";
  const isImage = owner.type === "image" || (typeof owner.mimeType === "string" && /^image\//i.test(owner.mimeType));
  return key === "data" && isImage ? "base64" : undefined;
}

function blobAt(reference: string, sessionPath: string): Buffer | undefined {
  const hash = BLOB.exec(reference)?.[1];
  if (hash === undefined) return undefined;
  let folder = dirname(sessionPath);
  for (let up = 0; up < FOLDERS_UP; up++, folder = dirname(folder)) {
    const bytes = read(join(folder, "blobs", hash));
    // A file that is not what its name says would put another picture into the conversation.
    if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
  }
  return undefined;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    // Whatever the system has against the file, the blob is not to be had; the caller reports it.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
