import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import type { Io } from "../terminal/io.js";

/** Shorter secrets are only taken for one where they are all that a variable holds: elsewhere they would be parts of words. */
const SUBSTRING_LENGTH = 8;

/**
 * The variables that a tool's process may see: without `BOUGH_API_KEY`, and without those that hold a secret, as the
 * address of a model with its password does.
 */
export function withoutSecretVariables(env: Io["env"], secrets: readonly string[]): Io["env"] {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value = ""]) => name !== "BOUGH_API_KEY" && !containsSecret(value, secrets)),
  );
}

const KEY_IS_READABLE =
  "On this system the commands that the model runs can read the model's key from the environment of bough; docs/navigator.md says what helps.";

/**
 * Erases a model's secrets from where this process was given them. Gives a warning for the person where a command that the
 * model runs could still read them; null: it cannot, or the model may run none. `bash`: whether it may; default `off`.
 */
export function hideKey(env: Io["env"], bash: "off" | "ask" | "allow" = "off", secrets: readonly string[] = []): string | null {
  const isHidden = eraseFromProcess(secrets) || !isInEnvironment(env, secrets);
  return isHidden || bash === "off" ? null : KEY_IS_READABLE;
}

/** Whether a secret stands in a variable of this process, from where others could read it. */
function isInEnvironment(env: Io["env"], secrets: readonly string[]): boolean {
  return Object.values(env).some((value = "") => containsSecret(value, secrets));
}

function containsSecret(value: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => value.trim() === secret || (secret.length >= SUBSTRING_LENGTH && value.includes(secret)));
}

/**
 * Overwrites secrets among the arguments and variables that this process was started with: whoever runs under the same user
 * reads them from there (`/proc/PID/environ`, `ps e`), also after the variable was deleted. What Node knows of its environment
 * is overwritten with them, so whoever needs a secret keeps a copy. Linux only, without rights of root; a read and a write.
 *
 * @returns whether none of the secrets can be read there any more; false on other systems.
 * @example
 * const isHidden = eraseFromProcess(model.secrets);
 */
function eraseFromProcess(secrets: readonly string[]): boolean {
  try {
    overwrite(secrets);
    const seen = ["environ", "cmdline"].map((name) => readFileSync(`/proc/self/${name}`));
    return !seen.some((bytes) => findSecrets(bytes, secrets).length > 0);
  } catch (error) {
    // No /proc, or one that does not let a process write to its own memory.
    if (error instanceof Error && "syscall" in error) return false;
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

/** Where the arguments begin and the variables behind them end, in the memory of this process (proc(5), fields 48 and 51). */
function readStartMemory(): { readonly from: number; readonly to: number } {
  const stat = readFileSync("/proc/self/stat", "latin1");
  // The name of the program may hold spaces and brackets; the third field stands behind it.
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
