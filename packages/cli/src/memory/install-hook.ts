import { rm } from "node:fs/promises";
import { platform } from "node:os";
import { errorCode } from "@bough/session-core/engine";
import { isObject } from "@bough/session-core/wire";
import { findNodeAtLocation, type JSONPath, type Node, parseTree } from "jsonc-parser";
import { ClientConfigError } from "../errors.js";
import {
  BYTE_ORDER_MARK,
  lineBreakOf,
  memberOf,
  type PreparedChange,
  readClientFile,
  readJson,
  startLine,
  writeClientFile,
} from "../mcp/install.js";
import type { Io } from "../terminal/io.js";
import { requirePlace } from "../terminal/user-folder.js";
import { type HookAgent, PLUGIN_MARK } from "./hook-agents.js";

/**
 * Prepares the hook of an agent.
 *
 * @param args What follows `bough` in the command, as words.
 * @throws {ClientConfigError} the settings cannot be read or are damaged; from `write` also: they cannot take the hook. Nothing was written.
 */
export async function prepareHook(io: Io, agent: HookAgent, args: readonly string[]): Promise<PreparedChange> {
  const file = requirePlace(io, agent.file(io));
  const before = await readClientFile(file);
  const { command, args: rest } = startLine(io, { knowsPath: true }, args);
  if (agent.kind === "plugin") return preparePlugin(io, file, before, agent.text([command, ...rest]));
  const entry = { type: "command", command: [command, ...rest].map(quoteWord).join(" "), timeout: agent.timeout };
  const group = { hooks: [entry] };
  const text = JSON.stringify({ hooks: Object.fromEntries(agent.events.map((event) => [event, [group]])) }, null, 2);
  const settings = new Settings(file, before);
  const places = agent.events.map((event) => settings.findOwn(event));
  const isSame = places.every(({ at, command: known }) => at >= 0 && known === entry.command);
  return {
    file,
    text,
    found: isSame ? "same" : places.some(({ at }) => at >= 0) ? "other" : "nothing",
    write: async () => {
      // The agent may have written its settings since, while the person thought about the question.
      const present = await readClientFile(file);
      let after = new Settings(file, present);
      for (const event of agent.events) after = after.without(event).with(event, group);
      await writeClientFile(io, file, after.text, present !== undefined);
    },
  };
}

async function preparePlugin(io: Io, file: string, before: string | undefined, text: string): Promise<PreparedChange> {
  requireOwn(file, before);
  const found = before === undefined ? "nothing" : before === text ? "same" : "other";
  return { file, text, found, write: () => writeClientFile(io, file, text, before !== undefined) };
}

function requireOwn(file: string, before: string | undefined): void {
  if (before !== undefined && !before.startsWith(PLUGIN_MARK))
    throw new ClientConfigError(`${file} was not written by bough. It was not changed.`);
}

/** Prepares the removal of the hook of an agent; `nothing`: there is none. Everything else in the file stays. @throws {ClientConfigError} */
export async function prepareRemoval(io: Io, agent: HookAgent): Promise<PreparedChange> {
  const file = requirePlace(io, agent.file(io));
  const before = await readClientFile(file);
  const none: PreparedChange = { file, found: "nothing", text: "", write: async () => undefined };
  if (before === undefined) return none;
  if (agent.kind === "plugin") {
    requireOwn(file, before);
    return { file, found: "same", text: before, write: () => removeFile(file) };
  }
  const settings = new Settings(file, before);
  const commands = agent.events.map((event) => settings.findOwn(event).command).filter((command) => command !== undefined);
  if (commands.length === 0) return none;
  const remove = async () => {
    const present = await readClientFile(file);
    const after = agent.events.reduce((rest, event) => rest.without(event), new Settings(file, present));
    if (present !== undefined) await writeClientFile(io, file, after.text, true);
  };
  return { file, found: "same", text: commands.join("\n"), write: remove };
}

async function removeFile(file: string): Promise<void> {
  try {
    await rm(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw new ClientConfigError(`Cannot remove ${file}.`, { cause: error });
  }
}

/** A word of a shell command: quoted if the shell would read it as anything else. */
function quoteWord(word: string): string {
  if (/^[\w./:@%+=,-]+$/.test(word)) return word;
  return platform() === "win32" ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command of a hook of Bough, whatever store it names. */
const OWN = /\bhook run (?:claude|codex|gemini)\b/;

/** Settings with hooks by event: each event has groups, each group hooks. Every change leaves the rest of the text as it is. */
class Settings {
  readonly text: string;
  readonly #file: string;
  readonly #value: unknown;

  constructor(file: string, before: string | undefined) {
    this.#file = file;
    this.text = before === undefined || before.trim() === "" ? "{}\n" : before;
    this.#value = readJson(file, this.#body);
  }

  get #body(): string {
    return this.text.startsWith(BYTE_ORDER_MARK) ? this.text.slice(1) : this.text;
  }

  /** The group of an event that has Bough's hook; at -1: none. */
  findOwn(event: string): { readonly at: number; readonly command: string | undefined } {
    for (const [at, group] of this.#groups(event).entries()) {
      const command = hooksOf(group)
        .map(commandOf)
        .find((one) => one !== undefined && OWN.test(one));
      if (command !== undefined) return { at, command };
    }
    return { at: -1, command: undefined };
  }

  with(event: string, group: object): Settings {
    const hooks = memberOf(this.#value, "hooks");
    if (hooks !== undefined && !isObject(hooks)) throw this.#unfit("hooks");
    const groups = memberOf(hooks, event);
    if (groups !== undefined && !Array.isArray(groups)) throw this.#unfit(`hooks.${event}`);
    if (hooks === undefined) return this.#insert([], "hooks", { [event]: [group] });
    return groups === undefined ? this.#insert(["hooks"], event, [group]) : this.#insert(["hooks", event], undefined, group);
  }

  /** Without Bough's hook at an event, and without the lists that are empty then. */
  without(event: string): Settings {
    const { at } = this.findOwn(event);
    if (at < 0) return this;
    const groups = this.#groups(event);
    const hooks = hooksOf(groups[at]);
    const own = hooks.findIndex((hook) => OWN.test(commandOf(hook) ?? ""));
    if (hooks.length > 1) return this.#remove(["hooks", event, at, "hooks", own]).without(event);
    if (groups.length > 1) return this.#remove(["hooks", event, at]).without(event);
    const isLast = Object.keys(memberOf(this.#value, "hooks") ?? {}).length === 1;
    return this.#remove(isLast ? ["hooks"] : ["hooks", event]);
  }

  /** Inserts a member of an object, or an item of a list, behind its last one. No other character changes. */
  #insert(path: JSONPath, name: string | undefined, value: object): Settings {
    const body = this.#body;
    const parent = this.#nodeAt(path);
    const last = parent.children?.at(-1);
    const lineBreak = lineBreakOf(body);
    const unit = /^\t/m.test(body) ? "\t" : " ".repeat(/^( +)"/m.exec(body)?.[1]?.length ?? 2);
    const own = indentAt(body, last === undefined ? parent.offset : last.offset);
    const indent = last === undefined ? own + unit : own;
    const written = JSON.stringify(value, null, unit).replaceAll("\n", `${lineBreak}${indent}`);
    const item = `${lineBreak}${indent}${name === undefined ? "" : `${JSON.stringify(name)}: `}${written}`;
    if (last !== undefined) return this.#replace(last.offset + last.length, 0, `,${item}`);
    return this.#replace(parent.offset + 1, parent.length - 2, `${item}${lineBreak}${own}`);
  }

  /** Removes a member or an item with the comma that separates it from the one before it, or from the next one. */
  #remove(path: JSONPath): Settings {
    const found = this.#nodeAt(path);
    const node = found.parent?.type === "property" ? found.parent : found;
    const siblings = node.parent?.children ?? [];
    const at = siblings.indexOf(node);
    const [before, after] = [siblings[at - 1], siblings[at + 1]];
    const end = node.offset + node.length;
    if (before !== undefined) return this.#replace(before.offset + before.length, end - before.offset - before.length, "");
    if (after !== undefined) return this.#replace(node.offset, after.offset - node.offset, "");
    return node.parent === undefined ? this : this.#replace(node.parent.offset + 1, node.parent.length - 2, "");
  }

  #replace(at: number, length: number, text: string): Settings {
    const body = this.#body;
    const mark = this.text.slice(0, this.text.length - body.length);
    return new Settings(this.#file, mark + body.slice(0, at) + text + body.slice(at + length));
  }

  #nodeAt(path: JSONPath): Node {
    const root = parseTree(this.#body, [], { allowTrailingComma: true });
    const node = root === undefined ? undefined : findNodeAtLocation(root, path);
    if (node === undefined) throw this.#unfit(path.join("."));
    return node;
  }

  #groups(event: string): readonly unknown[] {
    const groups = memberOf(memberOf(this.#value, "hooks"), event);
    return Array.isArray(groups) ? groups : [];
  }

  #unfit(member: string): ClientConfigError {
    return new ClientConfigError(`${this.#file} was not changed: ${member} in it has another form than the agent documents.`);
  }
}

/** The white space at the start of the line of a position. */
function indentAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

function hooksOf(group: unknown): readonly unknown[] {
  const hooks = memberOf(group, "hooks");
  return Array.isArray(hooks) ? hooks : [];
}

function commandOf(hook: unknown): string | undefined {
  const command = memberOf(hook, "command");
  return typeof command === "string" ? command : undefined;
}
