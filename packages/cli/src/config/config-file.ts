import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { configPath } from "./config-path.js";
import { type ReadConfig, readConfig } from "./read-config.js";
import type { Config, ConfigInput } from "./schema.js";

/** Settings to change; a group is changed member by member, and `undefined` takes a setting away. */
export type ConfigChange = { readonly [K in keyof ConfigInput]?: ConfigInput[K] | undefined };

/**
 * The person's settings; none where the file is not there.
 *
 * @throws {ConfigError} the file cannot be read, or is not valid; the message is one line with file and field.
 */
export async function loadConfig(io: Pick<Io, "env" | "home">): Promise<Config> {
  return (await readFrom(configPath(io))).config;
}

/**
 * Changes settings in the file, which is read again first, so that what another process or an editor changed meanwhile
 * stays. The new file takes the old one's place at once, and only its owner may read it. Gives back what is in force now.
 *
 * @throws {ConfigError} the file is not valid (it is left as it is), cannot be written, or the change does not fit.
 * @example
 * await saveConfig(io, { tools: { bash: "allow" } });
 */
export async function saveConfig(io: Pick<Io, "env" | "home">, change: ConfigChange): Promise<Config> {
  const path = configPath(io);
  if (path === "") throw new ConfigError("There is no home directory to keep settings in. Set HOME or XDG_CONFIG_HOME.");
  const { written } = await readFrom(path);
  const text = `${JSON.stringify(merged(written, change), null, 2)}\n`;
  const { config } = readConfig(text, path);
  await replace(path, text);
  return config;
}

async function readFrom(path: string): Promise<ReadConfig> {
  try {
    return readConfig(await readFile(path, "utf8"), path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { written: {}, config: {} };
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be read (${codeOf(error) ?? String(error)}). Check that it is a file that you may read.`, {
      cause: error,
    });
  }
}

function merged(written: ConfigInput, change: ConfigChange): Readonly<Record<string, unknown>> {
  const before: Readonly<Record<string, unknown>> = written;
  const changed = Object.entries(change).map(([name, value]) => {
    const old = before[name];
    return [name, isGroup(old) && isGroup(value) ? { ...old, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(changed) };
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function replace(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Where the file is a link into a folder of settings, the file it leads to is replaced and the link stays.
    const target = await realpath(path).catch(() => path);
    await writeBeside(target, text);
  } catch (error) {
    // The person goes on with the old settings; which failure it was is in the message.
    throw new ConfigError(`${path} cannot be written (${codeOf(error) ?? String(error)}). The settings are as they were.`, {
      cause: error,
    });
  }
}

async function writeBeside(target: string, text: string): Promise<void> {
  const beside = `${target}.${randomUUID()}`;
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      // Without it a power cut could leave an empty file under the new name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
