import { callPreview, type ToolCallBlock } from "@bough/session-core";
import { breakText, wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { diffLines } from "./diff.js";
import { patchLines } from "./patch-text.js";
import type { TextBudget } from "./text-budget.js";

// Arguments of known tools, as the agents that we know name them. They are whatever a model wrote: of any type, or missing
// (regression R193). What is not understood is shown as JSON, so that nothing is hidden.

const OLD = ["old_string", "oldText", "old_str", "old_text", "oldString", "oldStr", "search", "old"];
const NEW = ["new_string", "newText", "new_str", "new_text", "newString", "newStr", "replace", "replacement", "new"];
const CONTENT = ["content", "contents", "file_text", "fileText", "new_source", "text"];
const PATHS = ["path", "file_path", "filePath", "file", "filename", "absolute_path", "target_file", "targetFile", "notebook_path"];
const COMMANDS = ["command", "cmd", "script"];
const PATCHES = ["patch", "input", "diff", "patch_text", "patchText"];

const SHELLS = /(?:^|[^a-z])(?:bash|shell|sh|exec|local_?shell|run_?(?:shell_?)?command|exec_?command|terminal)$/i;
const WRITERS = /write|create|save|append|notebook|editor|edit_tool/i;

type Arguments = Readonly<Record<string, unknown>>;

/** What a call asks for, and the arguments that it says with it. */
interface Reading {
  readonly lines: readonly Line[];
  readonly used: readonly string[];
}

/** A tool call: what it is, then its arguments as a person reads them. Edits are diffs, writes the new text, commands `$ …`. */
export function toolCallLines(call: ToolCallBlock, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const heading = callPreview(call);
  const { arguments: args } = call;
  const reading =
    editReading(args, budget, glyphs) ?? writeReading(call, budget) ?? commandReading(call, budget) ?? patchReading(args, budget);
  const path = textNamed(args, PATHS);
  // The heading shortens what is long.
  const said = path !== undefined && heading.includes(path.text) ? [path.name] : [];
  const rest = without(args, [...(reading?.used ?? []), ...said]);
  return [
    ...wrapLine([styled("bold", heading), styled("dim", ` ${call.id}`)], budget.width),
    ...(reading?.lines ?? []),
    ...(Object.keys(rest).length === 0 ? [] : jsonBlock(rest, budget)),
  ];
}

/** A value as indented JSON, as far as the budget goes. */
export function jsonBlock(value: unknown, budget: TextBudget): readonly Line[] {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text === "" ? [] : breakText(budget.take(text), budget.width);
}

function editReading(args: Arguments, budget: TextBudget, glyphs: Glyphs): Reading | undefined {
  const single = editOf(args);
  if (single !== undefined) return { lines: editLines(single, budget, glyphs), used: single.used };
  const list = ["edits", "replacements"].find((name) => Array.isArray(args[name]));
  const given: unknown = list === undefined ? undefined : args[list];
  if (list === undefined || !Array.isArray(given) || given.length === 0) return undefined;
  const edits = given.flatMap((edit: unknown) => (isArguments(edit) ? (editOf(edit) ?? []) : []));
  if (edits.length < given.length) return undefined;
  const lines = edits.flatMap((edit, at) => [
    ...breakText(`edit ${at + 1} of ${edits.length}`, budget.width, "dim"),
    ...editLines(edit, budget, glyphs),
    ...(Object.keys(edit.beside).length > 0 ? jsonBlock(edit.beside, budget) : []),
  ]);
  return { lines, used: [list] };
}

interface Edit {
  readonly before: string;
  readonly after: string;
  /** What else it says. */
  readonly beside: Arguments;
  readonly used: readonly string[];
}

function editOf(args: Arguments): Edit | undefined {
  const [before, after] = [textNamed(args, OLD), textNamed(args, NEW)];
  if (before === undefined || after === undefined) return undefined;
  const used = [before.name, after.name];
  return { before: before.text, after: after.text, beside: without(args, used), used };
}

function editLines({ before, after }: Edit, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const lines = diffLines(budget.take(before), budget.take(after), budget.width, glyphs);
  return lines.length === 0 ? breakText("(the same text)", budget.width, "dim") : lines;
}

function writeReading({ name, arguments: args }: ToolCallBlock, budget: TextBudget): Reading | undefined {
  const content = textNamed(args, CONTENT);
  const path = textNamed(args, PATHS);
  if (content === undefined || path === undefined || !WRITERS.test(name)) return undefined;
  const lines =
    content.text === "" ? breakText("(an empty file)", budget.width, "dim") : breakText(budget.take(content.text), budget.width, "added");
  return { lines, used: [content.name] };
}

function commandReading({ name, arguments: args }: ToolCallBlock, budget: TextBudget): Reading | undefined {
  if (!SHELLS.test(name)) return undefined;
  const key = COMMANDS.find((one) => args[one] !== undefined);
  const given = key === undefined ? undefined : args[key];
  const words = Array.isArray(given) && given.every((word) => typeof word === "string") ? given.join(" ") : given;
  if (key === undefined || typeof words !== "string") return undefined;
  return { lines: commandLines(budget.take(words), budget.width), used: [key] };
}

/** A command as it is typed. */
export function commandLines(command: string, width: number): readonly Line[] {
  return breakText(`$ ${command}`, width, "bold");
}

function patchReading(args: Arguments, budget: TextBudget): Reading | undefined {
  const patch = textNamed(args, PATCHES);
  if (patch === undefined || !/^(?:\*\*\* Begin Patch|--- |diff --git |@@ )/m.test(patch.text)) return undefined;
  return { lines: patchLines(budget.take(patch.text), budget.width), used: [patch.name] };
}

function textNamed(args: Arguments, names: readonly string[]): { readonly name: string; readonly text: string } | undefined {
  for (const name of names) {
    const text = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof text === "string") return { name, text };
  }
  return undefined;
}

function without(args: Arguments, names: readonly string[]): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

function isArguments(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
