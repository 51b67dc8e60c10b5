import { isAbsolute, join, resolve } from "node:path";
import { NoHomeError } from "../errors.js";
import type { Io } from "../terminal/io.js";

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
export function storePath(io: Pick<Io, "env" | "cwd" | "home">, given: string | undefined): StorePath {
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
