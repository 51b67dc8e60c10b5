import { access, constants } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { openStore, type Store, StoreNotFoundError } from "@bough/session-core";
import { NoHomeError, NoStoreError } from "../errors.js";
import type { Io } from "../terminal/io.js";

/** What a command is going to do with the store: only read, change what is there, or make it where it is missing. */
export type Access = "read" | "change" | "create";

/** Opens the store, lets `work` have it, and closes it on every way out. */
export async function withStore<T>(
  io: Io,
  given: string | undefined,
  purpose: Access,
  work: (store: Store, path: string) => Promise<T>,
): Promise<T> {
  const place = resolveStorePath(io, given);
  const store = await openExisting(place, purpose);
  try {
    return await work(store, place.path);
  } finally {
    await store.close();
  }
}

async function openExisting(place: StorePath, purpose: Access): Promise<Store> {
  try {
    return await openStore({ path: place.path, mode: await chooseMode(place.path, purpose) });
  } catch (error) {
    if (!(error instanceof StoreNotFoundError)) throw error;
    const which = place.isDefault ? `There is no store yet at ${place.path}` : `There is no store at ${place.path}`;
    throw new NoStoreError(`${which}. Make one by importing sessions: bough import PATH (see bough import --help).`, { cause: error });
  }
}

async function chooseMode(path: string, purpose: Access): Promise<"create" | "read-write" | "read-only"> {
  switch (purpose) {
    case "create":
      return "create";
    case "change":
      return "read-write";
    case "read":
      // A search of a store that may be written keeps its index for the next one; one that may not is read all the same.
      return (await isWritable(path)) && (await isWritable(dirname(path))) ? "read-write" : "read-only";
  }
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

/** The file that holds the sessions, and whether somebody named it. */
export interface StorePath {
  readonly path: string;
  readonly isDefault: boolean;
}

/**
 * The store to work on: `--store`, or `BOUGH_STORE`, or `bough/sessions.db` in the user's data directory
 * (`XDG_DATA_HOME`, or `~/.local/share`).
 *
 * @throws {NoHomeError} nothing names a store, and there is no home directory to look in.
 */
export function resolveStorePath(io: Pick<Io, "env" | "cwd" | "home">, given: string | undefined): StorePath {
  const named = given ?? io.env["BOUGH_STORE"];
  if (named !== undefined && named !== "") return { path: resolve(io.cwd, named), isDefault: false };
  // The XDG standard: a relative path there is to be ignored.
  const data = io.env["XDG_DATA_HOME"];
  const isNamed = data !== undefined && isAbsolute(data);
  if (!isNamed && io.home === "")
    throw new NoHomeError("There is no home directory to look for a store in. Name a store by --store PATH or BOUGH_STORE, or set HOME.");
  const folder = isNamed ? data : join(io.home, ".local", "share");
  return { path: join(folder, "bough", "sessions.db"), isDefault: true };
}
