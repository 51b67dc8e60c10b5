import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseServerUrl, passwordsIn, urlWithoutPassword } from "@bough/postgres/address";
import { InvalidArgumentError } from "@bough/session-core";
import { isLikeServerAddress, isServerUrl } from "@bough/session-core/engine";
import { resolveConfigPath } from "../config/config-path.js";
import { CommandError, UsageError } from "../errors.js";
import { expandHome, quotePath } from "../format/path.js";
import { keysIn, withoutKeyCommands } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { userFolder } from "../terminal/user-folder.js";

/** The place of the store: a file, or a PostgreSQL server. */
export interface StoreLocation {
  readonly isServer: boolean;
  /** The path of the file, or the URL, which may contain a password: never print it. */
  readonly address: string;
  /** The name of the store in output and in other command lines: the path, or the URL without its password. */
  readonly name: string;
  /** Neither `--store` nor `BOUGH_STORE` nor the config file names it. */
  readonly isDefault: boolean;
  /** The passwords in the URL. */
  readonly passwords: readonly string[];
}

type Place = Pick<Io, "env" | "cwd" | "home">;

/**
 * The store: `--store`, else `BOUGH_STORE`, else the setting `store`, else `bough/sessions.db` in `XDG_DATA_HOME` or `~/.local/share`.
 *
 * @throws {CommandError} nothing names a store, and there is no home directory.
 * @throws {UsageError} the URL is not one of a PostgreSQL server.
 */
export async function locateStore(io: Place, given: string | undefined): Promise<StoreLocation> {
  if (given !== undefined) return locationOf(io, given, "--store");
  const fromEnvironment = io.env["BOUGH_STORE"] ?? "";
  if (fromEnvironment !== "") return locationOf(io, fromEnvironment, "BOUGH_STORE");
  const configured = await readSetting(io);
  if (configured !== undefined) return locationOf(io, expandHome(configured, io.home), "The setting store");
  return { ...fileAt(defaultPath(io)), isDefault: true };
}

function locationOf(io: Place, named: string, from: string): StoreLocation {
  if (isLikeServerAddress(named))
    throw new UsageError(
      `${from} must be the path of a file or postgres://USER@HOST/DATABASE; it is like an address, but begins or is written otherwise. Check for quotation marks, blanks and prefixes.`,
    );
  if (!isServerUrl(named)) return fileAt(resolve(io.cwd, named));
  checkUrl(named, from);
  return { isServer: true, address: named, name: urlWithoutPassword(named), isDefault: false, passwords: passwordsIn(named) };
}

/** The option that names the store in another command line: as it was given, without a password. @throws {UsageError} as `locateStore`. */
export async function toStoreOption(io: Place, given: string): Promise<string> {
  const { isServer, name } = await locateStore(io, given);
  return ` --store ${quotePath(isServer ? name : given)}`;
}

/** A store in the file at this absolute path. */
export function fileAt(path: string): StoreLocation {
  return { isServer: false, address: path, name: path, isDefault: false, passwords: [] };
}

function checkUrl(url: string, from: string): void {
  try {
    parseServerUrl(url);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    // The error of the library names the argument of `openStore`. It does not contain the URL.
    throw new UsageError(`${from} must be ${error.wanted}; it is ${error.given}.`, { cause: error });
  }
}

/** True if the config file names a setting. The code that checks the file takes 40 ms to load, so it is loaded only then. */
export async function mentionsSetting(io: Pick<Io, "env" | "home">, name: string): Promise<boolean> {
  const path = resolveConfigPath(io);
  const text = path === "" ? "" : await readFile(path, "utf8").catch(() => "");
  return text.includes(`"${name}"`);
}

/** The setting `store`. */
async function readSetting(io: Place): Promise<string | undefined> {
  if (!(await mentionsSetting(io, "store"))) return undefined;
  const { loadConfig } = await import("../config/config-file.js");
  return (await loadConfig(io)).store;
}

function defaultPath(io: Place): string {
  const folder = userFolder(io, "XDG_DATA_HOME");
  if (folder === "")
    throw new CommandError(
      "NO_HOME",
      "There is no home directory for the default store. Name a store with --store PATH or BOUGH_STORE, or set HOME.",
    );
  return join(folder, "bough", "sessions.db");
}

/**
 * Returns the environment for processes that a model starts, without passwords and keys of stores. `PGPASSWORD` is kept if the store is a file: it
 * then belongs to something else.
 */
export function withoutStorePassword(env: Io["env"], { isServer }: StoreLocation): Io["env"] {
  const { PGPASSWORD: password, BOUGH_STORE: named, ...others } = withoutKeyCommands(env);
  const kept = isServer || password === undefined ? others : { ...others, PGPASSWORD: password };
  return named === undefined || passwordsIn(named).length > 0 ? kept : { ...kept, BOUGH_STORE: named };
}

/**
 * Returns the texts that must not be in the memory of this process, because processes that a model starts could read them: passwords
 * of stores, and the whole addresses with them, because a short password is not searched for inside other texts.
 */
export function secretsOfStore(env: Io["env"], location: StoreLocation) {
  const { BOUGH_STORE: named = "", PGPASSWORD: password = "" } = env;
  const addresses = [location.address, named].filter((address) => passwordsIn(address).length > 0);
  return [...addresses, ...addresses.flatMap(passwordsIn), ...(location.isServer && password !== "" ? [password] : []), ...keysIn(env)];
}

/** Says that a command that was written down for later has no password in it, and where `who` finds one. */
export function notePassword(out: Printer, { passwords }: StoreLocation, who: string): void {
  if (passwords.length === 0) return;
  out.line(`The password is not written there. ${who} reads it from the file ~/.pgpass, or from PGPASSWORD in its environment.`);
}
