import type { ToolCallBlock } from "@bough/session-core";
import {
  type Arguments,
  classifyTool,
  describeCall,
  findCommand,
  findContent,
  findPatch,
  findPath,
  findTextEdits,
  shareLine,
  type TextEdit,
} from "@bough/session-core/view";
import { breakText, wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { toPrintedJson } from "../terminal/printed-json.js";
import { displayWidth } from "../terminal/width.js";
import { diffLines } from "./diff.js";
import { patchLines } from "./patch-text.js";
import type { TextBudget } from "./text-budget.js";

/** A drawing of some arguments; the others are drawn as JSON, so that no argument is hidden. */
interface DrawnArguments {
  readonly lines: readonly Line[];
  /** Names of the drawn arguments. */
  readonly used: readonly string[];
}

/** Draws a tool call: its name, then its arguments: edits as diffs, written files as text, commands as `$ …`, the rest as JSON. */
export function toolCallLines(call: ToolCallBlock, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const heading = shareLine("", [describeCall(call)], budget.width, { widthOf: displayWidth, ellipsis: glyphs.ellipsis });
  const { arguments: args } = call;
  const drawn = drawEdits(args, budget, glyphs) ?? drawWrite(call, budget) ?? drawCommand(call, budget) ?? drawPatch(args, budget);
  const path = findPath(args);
  // The heading may shorten a long path; then the path is drawn again.
  const inHeading = path !== undefined && heading.includes(path.text) ? [path.name] : [];
  const rest = omit(args, [...(drawn?.used ?? []), ...inHeading]);
  return [
    ...wrapLine([styled("bold", heading)], budget.width),
    ...(drawn?.lines ?? []),
    ...(Object.keys(rest).length === 0 ? [] : jsonBlock(rest, budget)),
  ];
}

/** Draws a value as indented JSON, as far as the budget goes. */
export function jsonBlock(value: unknown, budget: TextBudget): readonly Line[] {
  const text = toPrintedJson(value) ?? "";
  return text === "" ? [] : breakText(budget.take(text), budget.width);
}

function drawEdits(args: Arguments, budget: TextBudget, glyphs: Glyphs): DrawnArguments | undefined {
  const found = findTextEdits(args);
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

function drawWrite(call: ToolCallBlock, budget: TextBudget): DrawnArguments | undefined {
  const content = findContent(call);
  if (content === undefined) return undefined;
  const lines =
    content.text === "" ? breakText("(an empty file)", budget.width, "dim") : breakText(budget.take(content.text), budget.width, "added");
  return { lines, used: [content.name] };
}

function drawCommand(call: ToolCallBlock, budget: TextBudget): DrawnArguments | undefined {
  const command = classifyTool(call.name) === "command" ? findCommand(call) : undefined;
  return command && { lines: commandLines(budget.take(command.text), budget.width), used: [command.name] };
}

/** Draws a shell command as `$ command`. */
export function commandLines(command: string, width: number): readonly Line[] {
  return breakText(`$ ${command}`, width, "bold");
}

function drawPatch(args: Arguments, budget: TextBudget): DrawnArguments | undefined {
  const patch = findPatch(args);
  return patch && { lines: patchLines(budget.take(patch.text), budget.width), used: [patch.name] };
}

function omit(args: Arguments, names: readonly string[]): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}
