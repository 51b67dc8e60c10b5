import { access, constants } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { openStore, type Store, StoreNotFoundError } from "@bough/session-core";
import { NoHomeError, NoStoreError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";

/** The access that a command needs: read only, write to an existing store, or create the store if it does not exist. */
type Access = "read" | "change" | "create";

/** Opens the store, runs `work`, and closes the store. */
export async function withStore<T>(
  io: Io,
  given: string | undefined,
  access: Access,
  work: (store: Store, path: string) => Promise<T>,
): Promise<T> {
  const location = resolveStorePath(io, given);
  const store = await openExisting(io, location, access);
  try {
    return await work(store, location.path);
  } finally {
    await store.close();
  }
}

async function openExisting(io: Io, location: StorePath, access: Access): Promise<Store> {
  const { path } = location;
  const upgrade = new UpgradeReport(io, path);
  try {
    const store = await openStore({ path, mode: await chooseMode(path, access), onUpgrade: upgrade.update });
    await upgrade.end();
    return store;
  } catch (error) {
    upgrade.endLine();
    if (!(error instanceof StoreNotFoundError)) throw error;
    const which = location.isDefault ? `There is no store yet at ${location.path}` : `There is no store at ${location.path}`;
    throw new NoStoreError(`${which}. Import sessions to create it: bough import PATH.`, { cause: error });
  }
}

/** Reports on stderr that the store of an older version is being upgraded, on a terminal with the percentage. */
class UpgradeReport {
  readonly #io: Io;
  readonly #path: string;
  #percent: number | undefined;

  constructor(io: Io, path: string) {
    this.#io = io;
    this.#path = safe(path);
  }

  /** Synchronous: the upgrade is one transaction. */
  readonly update = (done: number, total: number): void => {
    const percent = Math.floor((done / Math.max(total, 1)) * 100);
    if (percent !== this.#percent) this.#io.progressStream?.write(`\rUpgrading ${this.#path} to a smaller format: ${percent} %`);
    this.#percent = percent;
  };

  /** Ends the line of the percentage, also if the upgrade failed. */
  endLine(): void {
    if (this.#percent !== undefined) this.#io.progressStream?.write("\n");
  }

  async end(): Promise<void> {
    if (this.#percent === undefined) return;
    this.endLine();
    await this.#io.stderr.write(`Upgraded ${this.#path}. Older versions of Bough can no longer open it.\n`);
  }
}

async function chooseMode(path: string, access: Access): Promise<"create" | "read-write" | "read-only"> {
  switch (access) {
    case "create":
      return "create";
    case "change":
      return "read-write";
    case "read":
      // In a writable store, entries are indexed behind a search.
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

/** The file of the store. `isDefault`: neither `--store` nor `BOUGH_STORE` names it. */
interface StorePath {
  readonly path: string;
  readonly isDefault: boolean;
}

/**
 * Resolves the path of the store: `--store`, else `BOUGH_STORE`, else `bough/sessions.db` in `XDG_DATA_HOME` or
 * `~/.local/share`.
 *
 * @throws {NoHomeError} neither names a store, and there is no home directory.
 */
export function resolveStorePath(io: Pick<Io, "env" | "cwd" | "home">, given: string | undefined): StorePath {
  const path = given ?? io.env["BOUGH_STORE"];
  if (path !== undefined && path !== "") return { path: resolve(io.cwd, path), isDefault: false };
  // The XDG specification requires that relative paths are ignored.
  const data = io.env["XDG_DATA_HOME"];
  const isSet = data !== undefined && isAbsolute(data);
  if (!isSet && io.home === "")
    throw new NoHomeError("There is no home directory for the default store. Name a store with --store PATH or BOUGH_STORE, or set HOME.");
  const folder = isSet ? data : join(io.home, ".local", "share");
  return { path: join(folder, "bough", "sessions.db"), isDefault: true };
}
