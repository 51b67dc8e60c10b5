import type { ToolCallBlock } from "../../entry/block.js";
import { callPreview } from "../../entry/preview.js";
import { KNOWN_FILE_TOOLS, normalisedName, PATH_ARGUMENTS } from "../../files/known-tools.js";
import { additions, editDiff } from "./edit-diff.js";
import { fenced } from "./fence.js";
import type { Scribe } from "./scribe.js";

type Arguments = Readonly<Record<string, unknown>>;

/** One way to show arguments: as what, and which of them it shows. */
interface Shown {
  readonly text: string;
  readonly language: string;
  readonly keys: readonly string[];
}

const COMMANDS = ["command", "cmd", "script"] as const;
const CONTENTS = ["content", "contents", "file_text", "text"] as const;

/**
 * What a call asks for: a change as a diff, a command as shell code, all else as JSON. An argument that stands in the
 * call's title already (the path of a read) is not repeated.
 */
export function callInput(call: ToolCallBlock, scribe: Scribe): readonly string[] {
  const args: Arguments = call.arguments;
  const best = editShown(args) ?? commandShown(call) ?? contentShown(call);
  const title = callPreview(call);
  const isSaid = (key: string, value: unknown): boolean => best?.keys.includes(key) === true || title === `[${call.name} ${String(value)}]`;
  const rest = Object.entries(args).filter(([key, value]) => value !== undefined && !isSaid(key, value));
  const shown = best === undefined ? [] : block(best.text, best.language, scribe);
  return rest.length === 0 ? shown : [...shown, ...block(JSON.stringify(Object.fromEntries(rest), null, 2), "json", scribe)];
}

function editShown(args: Arguments): Shown | undefined {
  const edit = editDiff(args);
  return edit === undefined ? undefined : { text: edit.diff, language: "diff", keys: edit.shown };
}

// An editor says with `command` what it does to a file; that is no shell code.
function commandShown(call: ToolCallBlock): Shown | undefined {
  const kind = kindOf(call.name);
  if (kind !== undefined && kind !== "patch") return undefined;
  const key = COMMANDS.find((name) => commandText(call.arguments[name]) !== undefined);
  const text = key === undefined ? undefined : commandText(call.arguments[key]);
  return key === undefined || text === undefined ? undefined : { text, language: "sh", keys: [key] };
}

function commandText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return undefined;
  // ["bash", "-lc", "<what was meant>"] is how Codex runs a command line.
  return value.length === 3 && /^-l?c$/.test(value[1] ?? "") ? value[2] : value.join(" ");
}

function contentShown(call: ToolCallBlock): Shown | undefined {
  if (kindOf(call.name) !== "write" && call.arguments["command"] !== "create") return undefined;
  const key = CONTENTS.find((name) => typeof call.arguments[name] === "string");
  const content = key === undefined ? undefined : call.arguments[key];
  return key === undefined || typeof content !== "string" ? undefined : { text: additions(content), language: "diff", keys: [key] };
}

/** The file that a call reads, when that is what its tool does. */
export function pathRead(call: ToolCallBlock): string | undefined {
  const key = kindOf(call.name) === "read" ? PATH_ARGUMENTS.find((name) => typeof call.arguments[name] === "string") : undefined;
  return key === undefined ? undefined : String(call.arguments[key]);
}

function kindOf(tool: string): string | undefined {
  const name = normalisedName(tool);
  return Object.hasOwn(KNOWN_FILE_TOOLS, name) ? KNOWN_FILE_TOOLS[name] : undefined;
}

function block(text: string, language: string, scribe: Scribe): readonly string[] {
  const { text: shown, missing } = scribe.input(text);
  return missing === null ? [fenced(shown, language)] : [fenced(shown, language), `*… ${missing}*`];
}
