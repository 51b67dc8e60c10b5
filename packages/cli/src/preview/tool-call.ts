import type { ToolCallBlock } from "@bough/session-core";
import {
  type Arguments,
  callPreview,
  commandArgument,
  contentArgument,
  patchArgument,
  pathArgument,
  type TextEdit,
  textEdits,
  toolKind,
} from "@bough/session-core/internals";
import { breakText, wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { diffLines } from "./diff.js";
import { patchLines } from "./patch-text.js";
import type { TextBudget } from "./text-budget.js";

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
  const path = pathArgument(args);
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
  const found = textEdits(args);
  if (found === undefined) return undefined;
  const { edits, names } = found;
  const isList = names.length === 1;
  const lines = edits.flatMap((edit, at) => [
    ...(isList ? breakText(`edit ${at + 1} of ${edits.length}`, budget.width, "dim") : []),
    ...editLines(edit, budget, glyphs),
    ...(Object.keys(edit.rest).length > 0 ? jsonBlock(edit.rest, budget) : []),
  ]);
  return { lines, used: names };
}

function editLines({ before, after }: TextEdit, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const lines = diffLines(budget.take(before), budget.take(after), budget.width, glyphs);
  return lines.length === 0 ? breakText("(the same text)", budget.width, "dim") : lines;
}

function writeReading(call: ToolCallBlock, budget: TextBudget): Reading | undefined {
  const content = contentArgument(call);
  if (content === undefined) return undefined;
  const lines =
    content.text === "" ? breakText("(an empty file)", budget.width, "dim") : breakText(budget.take(content.text), budget.width, "added");
  return { lines, used: [content.name] };
}

function commandReading(call: ToolCallBlock, budget: TextBudget): Reading | undefined {
  const command = toolKind(call.name) === "command" ? commandArgument(call) : undefined;
  return command && { lines: commandLines(budget.take(command.text), budget.width), used: [command.name] };
}

/** A command as it is typed. */
export function commandLines(command: string, width: number): readonly Line[] {
  return breakText(`$ ${command}`, width, "bold");
}

function patchReading(args: Arguments, budget: TextBudget): Reading | undefined {
  const patch = patchArgument(args);
  return patch && { lines: patchLines(budget.take(patch.text), budget.width), used: [patch.name] };
}

function without(args: Arguments, names: readonly string[]): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}
