import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { isSystemError } from "@bough/session-core/engine";
import { PASSWORD_VARIABLE } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";

/** Secrets of at least this length are also searched inside longer values; shorter ones would match parts of words. */
const SUBSTRING_LENGTH = 8;

/** The variables that only this program needs, whatever they contain. */
const OWN_VARIABLES: readonly string[] = ["BOUGH_API_KEY", PASSWORD_VARIABLE];

/** The environment for the processes of tools: without the key of the model, the password of pages, and variables that contain a secret. */
export function withoutSecretVariables(env: Io["env"], secrets: readonly string[]): Io["env"] {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value = ""]) => !OWN_VARIABLES.includes(name) && !containsSecret(value, secrets)),
  );
}

const KEY_IS_READABLE =
  "Commands that the model runs can read the API key or the password of the store from the environment of bough on this system; see docs/navigator.md.";

/**
 * Erases secrets from the environment and arguments of this process. Returns a warning for the user if commands of the model
 * can still read them; null: they cannot, or the tool bash is off. `bash`: its permission.
 */
export function hideKey(env: Io["env"], bash: "off" | "ask" | "allow" = "off", secrets: readonly string[] = []): string | null {
  const isHidden = eraseFromProcess(secrets) || !isInEnvironment(env, secrets);
  return isHidden || bash === "off" ? null : KEY_IS_READABLE;
}

/** True if a variable of this process contains a secret. */
function isInEnvironment(env: Io["env"], secrets: readonly string[]): boolean {
  return Object.values(env).some((value = "") => containsSecret(value, secrets));
}

function containsSecret(value: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => value.trim() === secret || (secret.length >= SUBSTRING_LENGTH && value.includes(secret)));
}

/**
 * Overwrites secrets in the memory of the arguments and environment that this process was started with. Processes of the same
 * user can read it (`/proc/PID/environ`, `ps e`), even after a variable is deleted. `process.env` reads the same memory, so the
 * caller must keep a copy of a secret. Works on Linux, without root.
 *
 * @returns whether the secrets are erased; false on other systems.
 * @example
 * const isHidden = eraseFromProcess(model.secrets);
 */
function eraseFromProcess(secrets: readonly string[]): boolean {
  try {
    overwrite(secrets);
    const seen = ["environ", "cmdline"].map((name) => readFileSync(`/proc/self/${name}`));
    return !seen.some((bytes) => findSecrets(bytes, secrets).length > 0);
  } catch (error) {
    // There is no /proc, or it does not allow a process to write to its own memory.
    if (isSystemError(error)) return false;
    throw error;
  }
}

function overwrite(secrets: readonly string[]): void {
  const { from, to } = readStartMemory();
  const memory = openSync("/proc/self/mem", "r+");
  try {
    const bytes = Buffer.alloc(to - from);
    readSync(memory, bytes, 0, bytes.length, from);
    for (const { at, length } of findSecrets(bytes, secrets)) writeSync(memory, Buffer.alloc(length, "*"), 0, length, from + at);
  } finally {
    closeSync(memory);
  }
}

/** The address range of arguments and environment in the memory of this process (proc(5), fields 48 and 51). */
function readStartMemory(): { readonly from: number; readonly to: number } {
  const stat = readFileSync("/proc/self/stat", "latin1");
  // The second field, the program name in parentheses, may contain spaces and parentheses. The third field follows it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { from: Number(fields[48 - 3]), to: Number(fields[51 - 3]) };
}

function findSecrets(bytes: Buffer, secrets: readonly string[]): readonly { readonly at: number; readonly length: number }[] {
  return secrets.flatMap((secret) => {
    const [wanted, lead] = secret.length >= SUBSTRING_LENGTH ? [secret, 0] : [`=${secret}\0`, 1];
    const found = [];
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1))
      found.push({ at: at + lead, length: Buffer.byteLength(secret) });
    return found;
  });
}
