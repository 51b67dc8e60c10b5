import { changeStoreKey, openStore, StoreLockedError } from "@bough/session-core";
import { counted } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { openWithAskedKey, readKey, readNewKey } from "../session/store-key.js";
import { fileAt, locateStore, type StoreLocation } from "../session/store-location.js";
import type { Io } from "../terminal/io.js";
import type { Command, Invocation } from "./command.js";

/** `bough lock`: encrypts the store with a new key. */
export const runLock: Command = async (invocation) => {
  const place = await locateFile(invocation);
  // What opens the store from now on may be in the environment already.
  const newKey = await readNewKey(invocation.io, "BOUGH_KEY");
  try {
    await change(invocation, place, { newKey }, "locked");
  } catch (error) {
    if (!(error instanceof StoreLockedError)) throw error;
    throw new UsageError(`${place.name} is locked already. bough rekey changes its key. Nothing was changed.`, { cause: error });
  }
  if (invocation.options.json === true) return;
  invocation.out.line("Nobody can read it without the key, and nobody can find the key again: keep a copy of it in another place.");
  invocation.out.line("Backups and copies that were made before are not locked, and neither are the files of the agents.");
};

/** `bough unlock`: writes the store without encryption. */
export const runUnlock: Command = async (invocation) => {
  const place = await locateFile(invocation);
  await change(invocation, place, { key: await currentKey(invocation.io, place) }, "unlocked");
};

/** `bough rekey`: encrypts a locked store with another key. */
export const runRekey: Command = async (invocation) => {
  const place = await locateFile(invocation);
  const key = await currentKey(invocation.io, place);
  await change(invocation, place, { key, newKey: await readNewKey(invocation.io) }, "locked with the new key");
  if (invocation.options.json !== true) invocation.out.line("Backups and copies that were made before keep the old key.");
};

async function locateFile({ io, options }: Invocation): Promise<StoreLocation> {
  const { isServer, address, name } = await locateStore(io, options.store);
  if (isServer) throw new UsageError(`A key locks a store in a file, and ${name} is on a server. Nothing was changed.`);
  return fileAt(address);
}

/** The key of a locked store; one that is typed was tried. @throws {UsageError} there is no lock, or no key and no terminal to ask for it. */
async function currentKey(io: Io, place: StoreLocation): Promise<string> {
  const given = await readKey(io, "BOUGH_KEY");
  if (given !== undefined) return given;
  await requireLocked(place);
  const typed = await openWithAskedKey(io, place, async (key) => {
    await openAndClose(place, key);
    return key;
  });
  if (typed === undefined)
    throw new UsageError("The key of the store is needed. Set BOUGH_KEY, or BOUGH_KEY_COMMAND to a command that prints it.");
  return typed;
}

async function requireLocked(place: StoreLocation): Promise<void> {
  try {
    await openAndClose(place);
  } catch (error) {
    if (error instanceof StoreLockedError) return;
    throw error;
  }
  throw new UsageError(`${place.name} is not locked. Nothing was changed.`);
}

async function openAndClose({ address }: StoreLocation, key?: string): Promise<void> {
  await (await openStore({ path: address, key, mode: "read-only" })).close();
}

async function change(
  { out, options }: Invocation,
  { address, name }: StoreLocation,
  keys: { readonly key?: string; readonly newKey?: string },
  result: string,
): Promise<void> {
  const { otherNames } = await changeStoreKey({ path: address, ...keys });
  if (options.json === true) return out.json({ store: name, locked: keys.newKey !== undefined, otherNames });
  out.line(`${name} is ${result}.`);
  if (otherNames > 0)
    out.line(`The old file stays as it was under ${counted(otherNames, "other name")} (hard links): remove what should not be read.`);
}
