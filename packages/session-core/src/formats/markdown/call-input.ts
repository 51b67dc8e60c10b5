import type { ToolCallBlock } from "../../entry/block.js";
import { callPreview } from "../../entry/preview.js";
import { type Arguments, callKind, commandArgument, contentArgument, pathArgument } from "../../tools/arguments.js";
import { additions, editDiff } from "./edit-diff.js";
import { fenced } from "./fence.js";
import type { Scribe } from "./scribe.js";

/** One way to show arguments: as what, and which of them it shows. */
interface Shown {
  readonly text: string;
  readonly language: string;
  readonly keys: readonly string[];
}

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

function commandShown(call: ToolCallBlock): Shown | undefined {
  const command = commandArgument(call);
  return command && { text: command.script, language: "sh", keys: [command.name] };
}

function contentShown(call: ToolCallBlock): Shown | undefined {
  const content = contentArgument(call);
  return content && { text: additions(content.text), language: "diff", keys: [content.name] };
}

/** The file that a call reads, if its tool reads files. */
export function pathRead(call: ToolCallBlock): string | undefined {
  return callKind(call) === "read" ? pathArgument(call.arguments)?.text : undefined;
}

function block(text: string, language: string, scribe: Scribe): readonly string[] {
  const { text: shown, missing } = scribe.input(text);
  return missing === null ? [fenced(shown, language)] : [fenced(shown, language), `*… ${missing}*`];
}
