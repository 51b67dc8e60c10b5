import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { openStore, type Store, StoreLockedError, StoreNotFoundError, type StoreOptions } from "@bough/session-core";
import { isSystemError } from "@bough/session-core/engine";
import { NoStoreError } from "../errors.js";
import type { KeyVariable } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { openOptions, openWithAskedKey, rememberKey } from "./store-key.js";
import { locateStore, type StoreLocation } from "./store-location.js";

/** The access that a command needs: read only, write to an existing store, or create the store if it does not exist. */
type Access = "read" | "change" | "create";

/** Opens the store, runs `work`, and closes the store. */
export async function withStore<T>(
  io: Io,
  given: string | undefined,
  access: Access,
  work: (store: Store, location: StoreLocation) => Promise<T>,
  keyIn: KeyVariable = "BOUGH_KEY",
): Promise<T> {
  const location = await locateStore(io, given);
  const store = await openExisting(io, location, access, keyIn);
  try {
    return await work(store, location);
  } finally {
    await store.close();
  }
}

async function openExisting(io: Io, location: StoreLocation, access: Access, keyIn: KeyVariable): Promise<Store> {
  const upgrade = upgradeReport(io, location.name);
  try {
    const options = { ...(await openOptions(io, location, keyIn)), mode: await chooseMode(location, access), onUpgrade: upgrade.update };
    const store = await openOrAsk(io, location, options);
    await upgrade.end();
    return store;
  } catch (error) {
    upgrade.endLine();
    if (!(error instanceof StoreNotFoundError)) throw error;
    const { isDefault, name } = location;
    const which = isDefault ? `There is no store yet at ${name}. Import` : `There is no store at ${name}. Check its name, or import`;
    throw new NoStoreError(`${which} sessions to create it: bough import.`, { cause: error });
  }
}

/** Opens the store; on a terminal asks for the key of a locked one if none was given. */
async function openOrAsk(io: Io, location: StoreLocation, options: StoreOptions): Promise<Store> {
  try {
    const store = await openStore(options);
    rememberKey(location, options.key);
    return store;
  } catch (error) {
    if (!(error instanceof StoreLockedError)) throw error;
    const store = await openWithAskedKey(io, location, async (key) => {
      const opened = await openStore({ ...options, key });
      rememberKey(location, key);
      return opened;
    });
    if (store === undefined) throw error;
    return store;
  }
}

/** Reports on stderr that the store of an older version is being upgraded, on a terminal with the percentage. */
function upgradeReport({ progressStream, stderr }: Io, name: string) {
  const path = safe(name);
  let percent: number | undefined;
  /** Ends the line of the percentage, also if the upgrade failed. */
  const endLine = () => {
    if (percent !== undefined) progressStream?.write("\n");
  };
  return {
    /** Synchronous: the upgrade is one transaction. */
    update(done: number, total: number): void {
      const next = Math.floor((done / Math.max(total, 1)) * 100);
      if (next !== percent) progressStream?.write(`\rUpgrading ${path} to a smaller format: ${next} %`);
      percent = next;
    },
    endLine,
    async end(): Promise<void> {
      if (percent === undefined) return;
      endLine();
      await stderr.write(`Upgraded ${path}. Older versions of Bough can no longer open it.\n`);
    },
  };
}

async function chooseMode({ isServer, address }: StoreLocation, access: Access): Promise<"create" | "read-write" | "read-only"> {
  switch (access) {
    case "create":
      return "create";
    case "change":
      return "read-write";
    case "read":
      // In a writable file, entries are indexed behind a search. On a server they are indexed when they are written.
      if (isServer) return "read-only";
      return (await isWritable(address)) && (await isWritable(dirname(address))) ? "read-write" : "read-only";
  }
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
