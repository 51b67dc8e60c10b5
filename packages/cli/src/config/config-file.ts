import { randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "@bough/session-core/engine";
import { isObject } from "@bough/session-core/wire";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { resolveConfigPath } from "./config-path.js";
import type { ParsedConfig } from "./parse-config.js";
import type { Config, ConfigInput } from "./schema.js";

/** Settings to change. The members of a group are merged; `undefined` removes a setting. */
type ConfigChange = { readonly [K in keyof ConfigInput]?: ConfigInput[K] | undefined };

/**
 * Reads the config file. Without a file there are no settings.
 *
 * @throws {ConfigError} the file cannot be read or is invalid; the message is one line with the file and the setting.
 */
export async function loadConfig(io: Pick<Io, "env" | "home">): Promise<Config> {
  return (await readConfigFile(resolveConfigPath(io))).config;
}

/**
 * Changes settings in the config file and returns the new settings. The file is read again first, which keeps changes by
 * other processes and editors. The new file replaces the old one atomically; only its owner may read it.
 *
 * @throws {ConfigError} the file is invalid (it is not changed), cannot be written, or the change is invalid.
 * @example
 * await saveConfig(io, { tools: { bash: "allow" } });
 */
export async function saveConfig(io: Pick<Io, "env" | "home">, change: ConfigChange): Promise<Config> {
  const path = resolveConfigPath(io);
  if (path === "") throw new ConfigError("There is no home directory for the config file. Set HOME or XDG_CONFIG_HOME.");
  const { written } = await readConfigFile(path);
  const text = `${JSON.stringify(mergeConfig(written, change), null, 2)}\n`;
  const { config } = await parse(text, path);
  await replaceFile(path, text);
  return config;
}

async function readConfigFile(path: string): Promise<ParsedConfig> {
  try {
    return await parse(await readFile(path, "utf8"), path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { written: {}, config: {} };
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be read (${errorCode(error) ?? String(error)}). Check that it is a file and its permissions.`, {
      cause: error,
    });
  }
}

/** The schema is loaded only where there is a file to check: it takes as long to load as all of `bough --version`. */
async function parse(text: string, path: string): Promise<ParsedConfig> {
  const { parseConfig } = await import("./parse-config.js");
  return parseConfig(text, path);
}

function mergeConfig(written: ConfigInput, change: ConfigChange): Readonly<Record<string, unknown>> {
  const before: Readonly<Record<string, unknown>> = written;
  const changed = Object.entries(change).map(([name, value]) => {
    const old = before[name];
    return [name, isObject(old) && isObject(value) ? { ...old, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(changed) };
}

async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // If the file is a symbolic link, its target is replaced and the link stays.
    const target = await realpath(path).catch(() => path);
    await writeAtomically(target, text);
  } catch (error) {
    throw new ConfigError(`${path} cannot be written (${errorCode(error) ?? String(error)}). The settings did not change.`, {
      cause: error,
    });
  }
}

async function writeAtomically(target: string, text: string): Promise<void> {
  const temporary = `${target}.${randomUUID()}`;
  try {
    // Without the flush, a power loss could leave an empty file under the new name.
    await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
