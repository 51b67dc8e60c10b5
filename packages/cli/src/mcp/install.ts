import { mkdir, readFile } from "node:fs/promises";
import { platform } from "node:os";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorCode } from "@bough/session-core/engine";
import { isObject } from "@bough/session-core/wire";
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml } from "smol-toml";
import { ClientConfigError } from "../errors.js";
import { errorLine } from "../format/error-text.js";
import { writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { findProgram } from "../terminal/run-program.js";
import { requirePlace } from "../terminal/user-folder.js";
import type { McpClient, StartLine } from "./clients.js";

/** A change of the file of a client or an agent that was prepared, and not made yet. */
export interface PreparedChange {
  readonly file: string;
  /** The lines that the change adds, with the members that lead to them; of a removal those that go. */
  readonly text: string;
  /** `same`: nothing has to be changed. `other`: something else stands at the place. */
  readonly found: "nothing" | "same" | "other";
  /** Makes the change; everything else in the file stays as it is, comments too. */
  readonly write: () => Promise<void>;
}

/**
 * Reads the config of a client and prepares the entry.
 *
 * @throws {ClientConfigError} the file cannot be read or is damaged; from `write` also: it cannot take the entry, or its folder cannot be
 * made. Nothing was written.
 * @throws {CommandError} NO_HOME.
 */
export async function prepareInstallation(io: Io, client: McpClient, args: readonly string[]): Promise<PreparedChange> {
  const file = requirePlace(io, client.file({ env: io.env, home: io.home, platform: platform() }));
  const entry = client.entry(startLine(io, client, args));
  const readConfig = (text: string | undefined): Config => (file.endsWith(".toml") ? tomlConfig : jsonConfig)(file, text);
  const config = readConfig(await readClientFile(file));
  // smol-toml makes objects without a prototype; a clone has one.
  const present = client.path.reduce<unknown>(memberOf, config.value);
  return {
    file,
    text: config.alone(client.path, entry),
    found: present === undefined ? "nothing" : isDeepStrictEqual(structuredClone(present), entry) ? "same" : "other",
    write: async () => {
      // A client writes its file while it runs, as Claude Code does all the time, and the person may have thought about the question.
      const before = await readClientFile(file);
      const text = addEntry(file, readConfig(before), client.path, entry);
      await writeClientFile(io, file, text, before !== undefined);
    },
  };
}

/** A client that is started from a terminal finds `bough` by PATH, which survives an update of Node; others get the full path. */
export function startLine(io: Io, { knowsPath }: Pick<McpClient, "knowsPath">, args: readonly string[]): StartLine {
  if (knowsPath && findProgram(io, "bough") !== undefined) return { command: "bough", args };
  const [command = "bough", ...script] = io.program;
  return { command, args: [...script, ...args] };
}

/** The text of a client's file; undefined: there is none. @throws {ClientConfigError} it cannot be read. */
export async function readClientFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new ClientConfigError(`Cannot read ${file}: ${errorLine(error)}. Nothing was written.`, { cause: error });
  }
}

/** Writes a client's file, and makes its folder. @throws {ClientConfigError | OutputFailedError} */
export async function writeClientFile(io: Io, file: string, text: string, exists: boolean): Promise<void> {
  const folder = dirname(file);
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new ClientConfigError(`Cannot make the folder ${folder}: ${errorLine(error)}. Nothing was written.`, { cause: error });
  }
  await writeNewFile(io, file, [text], exists);
}

/** A parsed config: its value, its text with an entry, and an entry alone. */
interface Config {
  readonly value: unknown;
  /** The value of a text in the format of the config. */
  parse(text: string): unknown;
  with(path: readonly string[], entry: unknown): string;
  alone(path: readonly string[], entry: unknown): string;
}

/**
 * The text of a config with an entry. The text is parsed again before it is used, because some files cannot take an entry by an insertion:
 * a member of them twice, or an inline table of TOML.
 */
function addEntry(file: string, config: Config, path: readonly string[], entry: unknown): string {
  const parents = path.slice(0, -1);
  const parent = parents.reduce<unknown>(memberOf, config.value);
  if (hasMember(config.value, parents) && !isObject(parent)) throw unchanged(file, `${parents.join(".")} in it is not an object`);
  const text = config.with(path, entry);
  if (isDeepStrictEqual(readOrNull(config, text), structuredClone(withMember(config.value, path, entry)))) return text;
  throw unchanged(file, `the way in which it is written leaves no place for ${path.join(".")}`);
}

function readOrNull(config: Config, text: string): unknown {
  try {
    return structuredClone(config.parse(text));
  } catch (error) {
    if (error instanceof ClientConfigError) return null;
    throw error;
  }
}

function unchanged(file: string, why: string): ClientConfigError {
  return new ClientConfigError(`${file} was not changed: ${why}.`);
}

/** The mark that text editors of Windows write before the text. */
export const BYTE_ORDER_MARK = "\uFEFF";

function jsonConfig(file: string, before: string | undefined): Config {
  const mark = before?.startsWith(BYTE_ORDER_MARK) === true ? BYTE_ORDER_MARK : "";
  const given = (before ?? "").slice(mark.length);
  const text = given.trim() === "" ? "{}\n" : given;
  const formattingOptions = { insertSpaces: !/^\t/m.test(text), tabSize: 2, eol: lineBreakOf(text) };
  return {
    value: readJson(file, text),
    parse: (after) => readJson(file, after.slice(mark.length)),
    with: (path, entry) => mark + applyEdits(text, modify(text, [...path], entry, { formattingOptions })),
    alone: (path, entry) => JSON.stringify(nested(path, entry), null, 2),
  };
}

/** Parses the JSON object of a client's file, comments included. @throws {ClientConfigError} it is damaged. */
export function readJson(file: string, text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) throw damaged(file, `${printParseErrorCode(error.error)} at offset ${error.offset}`);
  if (!isObject(value)) throw damaged(file, "it is not an object");
  return value;
}

/** A TOML config gets its entry at its end, because a TOML writer would drop the comments of the file. */
function tomlConfig(file: string, before = ""): Config {
  const value = readToml(file, before);
  const alone = (path: readonly string[], entry: unknown) => stringifyToml(nested(path, entry)).trim();
  return {
    value,
    parse: (after) => readToml(file, after),
    with: (path, entry) => {
      if (hasMember(value, path)) throw unchanged(file, `it has another entry ${path.join(".")}`);
      const start = before === "" ? "" : `${before.trimEnd()}\n\n`;
      const lineBreak = lineBreakOf(before);
      return `${start}${alone(path, entry)}\n`.replace(/\r?\n/g, lineBreak);
    },
    alone,
  };
}

export function lineBreakOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function readToml(file: string, text: string): unknown {
  try {
    return parseToml(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    throw damaged(file, error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error));
  }
}

function damaged(file: string, why: string): ClientConfigError {
  return new ClientConfigError(`${file} is damaged: ${why}. Nothing was written.`);
}

function nested(path: readonly string[], entry: unknown): Record<string, unknown> {
  const [name = "", ...rest] = path;
  return { [name]: rest.length === 0 ? entry : nested(rest, entry) };
}

export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function hasMember(value: unknown, path: readonly string[]): boolean {
  return path.reduce<unknown>(memberOf, value) !== undefined;
}

/** An object with the entry at its place; the objects that lead there are made if there are none. */
function withMember(value: unknown, path: readonly string[], entry: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return entry;
  return { ...(isObject(value) ? value : {}), [name]: withMember(memberOf(value, name), rest, entry) };
}
