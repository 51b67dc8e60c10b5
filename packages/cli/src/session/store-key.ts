import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { type StoreOptions, WrongKeyError } from "@bough/session-core";
import { CommandError, UsageError } from "../errors.js";
import { commandVariable, type KeyVariable, keysIn, withoutKeys } from "../terminal/child-environment.js";
import { releaseInput } from "../terminal/early-input.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";
import type { StoreLocation } from "./store-location.js";

/** The time that a command may take to print a key. A password manager can ask the user meanwhile. */
const COMMAND_TIMEOUT_MS = 120_000;

/** The longest key that a command may print, in bytes. One that prints without end is stopped. */
const LONGEST_PRINTED = 64 * 1024;

/** The shortest new key. Whoever has the file can try keys without limit. */
const SHORTEST = 8;

type KeyPlace = Pick<Io, "env" | "askSecret">;

/** Keys that this process has used, by the address of the store, and what commands have printed: nobody is asked twice. */
const used = new Map<string, string>();
const printedKeys = new Map<string, Promise<string>>();

/** Later openings of the store in this process use this key where their environment has none. */
export function rememberKey({ address }: StoreLocation, key: string | undefined): void {
  if (key !== undefined) used.set(address, key);
}

/** The commands that print keys run again at the next opening. */
export function forgetPrintedKeys(): void {
  printedKeys.clear();
}

/**
 * The key of a store: of a variable, or what its command prints; undefined: none. A variable that is set to nothing means none, whatever the
 * command. The target of a copy has the key of the store unless it has its own.
 *
 * @throws {CommandError} the command failed.
 * @throws {UsageError} the store is on a server, which has no key.
 */
export async function keyOfStore(io: KeyPlace, location: StoreLocation, variable: KeyVariable = "BOUGH_KEY"): Promise<string | undefined> {
  const isOfTarget = variable !== "BOUGH_KEY" && !isSet(io, variable);
  if (isOfTarget && location.isServer) return undefined;
  const key = isSet(io, variable) || !isOfTarget ? await readKey(io, variable) : await readKey(io, "BOUGH_KEY");
  if (key !== undefined && location.isServer)
    throw new UsageError(
      `A key locks a store in a file, and ${location.name} is on a server. Run the command with ${variable} set to nothing.`,
    );
  return key ?? (io.env[variable] === undefined ? used.get(location.address) : undefined);
}

/** The place of a store, and its key, as options of `openStore`. */
type PlaceOptions = Pick<StoreOptions, "path" | "url" | "key">;

/** Returns the place of the store, with its key, as options of `openStore`. @throws {CommandError} */
export async function openOptions(io: Pick<Io, "env" | "askSecret">, location: StoreLocation, keyIn?: KeyVariable): Promise<PlaceOptions> {
  const { isServer, address } = location;
  const key = await keyOfStore(io, location, keyIn);
  return isServer ? { url: address } : { path: address, key };
}

function isSet({ env }: KeyPlace, variable: KeyVariable): boolean {
  return env[variable] !== undefined || (env[commandVariable(variable)] ?? "") !== "";
}

/** The key in a variable, or what its command prints; undefined: none. @throws {CommandError} */
export async function readKey(io: KeyPlace, variable: KeyVariable): Promise<string | undefined> {
  const given = io.env[variable];
  if (given !== undefined) return given === "" ? undefined : given;
  const command = io.env[commandVariable(variable)] ?? "";
  if (command === "") return undefined;
  const key = printedKeys.get(command) ?? runKeyCommand(io, commandVariable(variable), command);
  printedKeys.set(command, key);
  // A server runs for days: the next call tries again.
  key.catch(() => printedKeys.delete(command));
  return key;
}

/**
 * The key that a store gets: of BOUGH_NEW_KEY or its command, else of `usual`, else what the user types twice.
 *
 * @throws {UsageError} it is too short, the two differ, or there is no terminal.
 */
export async function readNewKey(io: KeyPlace, usual?: KeyVariable): Promise<string> {
  const given = (await readKey(io, "BOUGH_NEW_KEY")) ?? (usual === undefined ? undefined : await readKey(io, usual));
  const key = given ?? (await askTwice(io));
  if (key.length < SHORTEST)
    throw new UsageError(
      `The new key is shorter than ${SHORTEST} characters. Choose a longer one: whoever has the file can try keys without limit.`,
    );
  return key;
}

async function askTwice({ askSecret }: KeyPlace): Promise<string> {
  if (askSecret === undefined)
    throw new UsageError("A new key is needed. Set BOUGH_NEW_KEY, or BOUGH_NEW_KEY_COMMAND to a command that prints it.");
  const first = (await askSecret("New key: ")) ?? "";
  if (first.length >= SHORTEST && (await askSecret("The same again: ")) !== first)
    throw new UsageError("The two keys differ. Nothing was changed.");
  return first;
}

/** The most attempts to type a key. */
const ATTEMPTS = 3;

/**
 * Asks for the key of a locked store and opens the store with it; asks again if the key does not fit. undefined: there is no terminal, or
 * nothing was typed.
 *
 * @throws {WrongKeyError} none of three keys fits.
 */
export async function openWithAskedKey<T>(
  { askSecret }: KeyPlace,
  { name }: StoreLocation,
  open: (key: string) => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 1, before = ""; ; attempt += 1) {
    const key = (await askSecret?.(`${before}Key of ${safe(name)}: `)) ?? "";
    if (key === "") return undefined;
    try {
      return await open(key);
    } catch (error) {
      if (!(error instanceof WrongKeyError) || attempt === ATTEMPTS) throw error;
      before = "This key does not fit. ";
    }
  }
}

/**
 * Runs a command in a shell and returns what it prints, without the line break at its end. On a terminal it can ask the user. Its errors go to
 * the terminal and never into a message of bough, which could be logged.
 *
 * @throws {CommandError} it cannot be run, fails, prints nothing, more than a line, or no text, or takes too long.
 */
async function runKeyCommand(io: KeyPlace, variable: string, command: string): Promise<string> {
  const aside = io.askSecret === undefined ? "ignore" : "inherit";
  if (aside === "inherit") releaseInput();
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new CommandError("KEY_COMMAND", `The command in ${variable} ${why}. Nothing was changed.`));
    const child = spawn(command, { shell: true, stdio: [aside, "pipe", aside], env: withoutKeys(io.env) });
    const stop = (why: string) => {
      clearTimeout(timer);
      fail(why);
      child.kill("SIGKILL");
      // What the shell has started may go on and hold the pipe: bough does not wait for it.
      child.stdout?.destroy();
      child.unref();
    };
    const timer = setTimeout(() => stop(`printed no key within ${COMMAND_TIMEOUT_MS / 1000} s`), COMMAND_TIMEOUT_MS);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > LONGEST_PRINTED) stop(`printed more than ${LONGEST_PRINTED / 1024} kB, which is no key`);
    });
    child.once("error", () => fail("cannot be started"));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const printed = Buffer.concat(chunks);
      const key = printed.toString("utf8").replace(/\r?\n$/, "");
      if (code !== 0) fail(signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`);
      else if (!isUtf8(printed)) fail("printed bytes that are no UTF-8 text (`| base64 -w0` makes text of them)");
      else if (key === "") fail("printed nothing");
      else if (/[\r\n]/.test(key)) fail("printed more than one line, and a key is one (`| head -n 1` takes the first)");
      else resolve(key);
    });
  });
}

/** Says that a command that was written down for later has no key in it, and where `who` finds one. */
export function noteKey(out: Printer, env: Io["env"], who: string): void {
  if (keysIn(env).length === 0 && (env["BOUGH_KEY_COMMAND"] ?? "") === "") return;
  out.line(`The key of the store is not written there. ${who} needs BOUGH_KEY_COMMAND, or BOUGH_KEY, in its environment.`);
}
