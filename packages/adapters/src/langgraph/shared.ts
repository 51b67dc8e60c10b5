import { isObject } from "@bough/session-core/wire";

// A serialized message and the Bough message made of it have most of their text in common. The serialized one is stored beside
// the other with references in place of the common parts, so that both can be read and nothing is stored twice.

/**
 * The JSON that belongs to a message. In `shared`, an object `{ $: path }` is a reference to the value of the message at that path;
 * `before` is put before a text. `raw` has no references.
 */
export type Shared = { readonly shared: unknown } | { readonly raw: unknown };

type Path = readonly (string | number)[];

/** Shorter texts take less room than a reference. */
const SHORTEST = 24;

/** Describes `json` by its differences from `message`. */
export function sharedWith(message: unknown, json: unknown): Shared {
  // A member of this name would be read as a reference.
  if (JSON.stringify(json).includes('"$":')) return { raw: json };
  const paths = new Map<unknown, Path>();
  collect(message, [], paths);
  return { shared: replace(json, paths) };
}

/** The `json` that `sharedWith(message, json)` described. */
export function restored(message: unknown, given: unknown): unknown {
  if (!isObject(given)) return undefined;
  return "raw" in given ? given["raw"] : resolve(given["shared"], message);
}

/** Collects long texts by their value, and the arguments of tool calls and foreign blocks by their identity. */
function collect(value: unknown, path: Path, paths: Map<unknown, Path>): void {
  if (typeof value === "string") {
    if (value.length >= SHORTEST && !paths.has(value)) paths.set(value, path);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const name = path.at(-1);
  if (name === "arguments" || name === "raw") {
    paths.set(value, path);
    return;
  }
  for (const [key, member] of Object.entries(value)) collect(member, [...path, Array.isArray(value) ? Number(key) : key], paths);
}

function replace(value: unknown, paths: ReadonlyMap<unknown, Path>): unknown {
  const path = paths.get(value);
  if (path !== undefined) return { $: path };
  if (typeof value === "string") return replaceDataUrl(value, paths);
  if (Array.isArray(value)) return value.map((member) => replace(member, paths));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member, paths)]));
}

function replaceDataUrl(url: string, paths: ReadonlyMap<unknown, Path>): unknown {
  if (!url.startsWith("data:")) return url;
  const at = url.indexOf(",") + 1;
  const path = paths.get(url.slice(at));
  return path === undefined ? url : { $: path, before: url.slice(0, at) };
}

function resolve(value: unknown, message: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => resolve(member, message));
  if (!isObject(value)) return value;
  const { $: path, before } = value;
  if (!Array.isArray(path)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, message)]));
  const found: unknown = path.reduce(memberOf, message);
  return typeof before === "string" ? before + String(found) : found;
}

function memberOf(value: unknown, key: unknown): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, String(key)) : undefined;
}
