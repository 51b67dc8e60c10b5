import {
  type AttachmentPart,
  type CallInput,
  type CallPart,
  type NotePart,
  shareLine,
  type TextEdit,
  type TextPart,
  type ThinkingPart,
  type Todo,
  type ViewPart,
} from "@bough/session-core/view";
import { attachmentName } from "../format/entry-lines.js";
import { breakText, wrapLine, wrapText } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { toPrintedJson } from "../terminal/printer.js";
import { displayWidth } from "../terminal/width.js";
import { diffLines, patchLines, patchParts } from "./diff.js";
import { markdownLines } from "./markdown.js";
import { fieldLines, type TextBudget } from "./text-budget.js";

/** Draws parts in order, with an empty line between two; the output of a command and notes follow what they belong to. */
export function partsLines(parts: readonly ViewPart[], budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const lines: Line[] = [];
  for (const [index, part] of parts.entries()) {
    const drawn = partLines(part, budget, glyphs);
    const follows = part.type === "note" || parts[index - 1]?.type === "code";
    if (lines.length > 0 && drawn.length > 0 && !follows) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

function partLines(part: ViewPart, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  switch (part.type) {
    case "markdown":
      return markdownLines(budget.take(part.text), budget.width, glyphs);
    case "thinking":
      return thinkingLines(part, budget);
    case "text":
      return outputLines(part, budget);
    case "code":
      return inputLines(part, budget, glyphs);
    case "json":
      return jsonLines(part.value, budget);
    case "image":
    case "file":
    case "foreign":
      return attachmentLines(part, budget);
    case "note":
      return noteLines(part, budget);
    case "fact":
      return fieldLines(part.name, part.value, budget.width);
    case "summary": {
      const text = markdownLines(budget.take(part.text), budget.width, glyphs);
      return text.length > 0 ? text : [["(no text)"]];
    }
    case "call":
      return callLines(part, budget, glyphs);
    case "result": {
      const lines = partsLines(part.parts, budget, glyphs);
      return part.isError ? [...breakText("(error)", budget.width, "error"), ...lines] : lines;
    }
  }
}

function thinkingLines({ text: given, isHidden }: ThinkingPart, budget: TextBudget): readonly Line[] {
  const text = budget.take(given);
  return [
    ...breakText(isHidden ? "(thinking, redacted)" : "(thinking)", budget.width, "dim"),
    ...(text === "" ? [] : wrapText(text, budget.width, "dim")),
  ];
}

/** Tool output verbatim, with the colors of diffs. */
function outputLines({ text }: TextPart, budget: TextBudget): readonly Line[] {
  return patchParts(budget.take(text)).flatMap((part) =>
    part.kind === "patch" ? patchLines(part.text, budget.width) : breakText(part.text, budget.width),
  );
}

/** A value as indented JSON, as far as the budget goes. */
function jsonLines(value: unknown, budget: TextBudget): readonly Line[] {
  const text = toPrintedJson(value) ?? "";
  return text === "" ? [] : breakText(budget.take(text), budget.width);
}

function attachmentLines(part: AttachmentPart, budget: TextBudget): readonly Line[] {
  const name = breakText(attachmentName(part), budget.width, "dim");
  return part.type === "foreign" ? [...name, ...jsonLines(part.value, budget)] : name;
}

function noteLines({ text, detail, inFields }: NotePart, budget: TextBudget): readonly Line[] {
  if (detail !== undefined) return wrapText(budget.take(detail), budget.width, "error");
  return inFields ? [] : wrapText(`(${text})`, budget.width, "dim");
}

/** Draws a tool call: its title, what it does, then its other arguments as JSON; those in a title that is cut are among them. */
export function callLines(call: CallPart, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const title = shareLine("", [call], budget.width, { widthOf: displayWidth, ellipsis: glyphs.ellipsis });
  const rest = title.includes(call.detail) ? call.rest : { ...call.titled, ...call.rest };
  return [
    ...wrapLine([styled("bold", title)], budget.width),
    ...call.input.flatMap((input) => inputLines(input, budget, glyphs)),
    ...(Object.keys(rest).length === 0 ? [] : jsonLines(rest, budget)),
    ...(call.result === null ? [] : partLines(call.result, budget, glyphs)),
  ];
}

function inputLines(input: CallInput, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  switch (input.type) {
    case "todos":
      return input.todos.length === 0 ? breakText("(no tasks)", width, "dim") : input.todos.flatMap((todo) => todoLines(todo, budget));
    case "diff":
      return input.edits.flatMap((edit, index) => [
        ...(input.isList ? breakText(`edit ${index + 1} of ${input.edits.length}`, width, "dim") : []),
        ...editLines(edit, budget, glyphs),
      ]);
    case "patch":
      return patchLines(budget.take(input.text), width);
    case "code":
      if (input.purpose === "command") return breakText(`$ ${budget.take(input.text)}`, width, "bold");
      return input.text === "" ? breakText("(an empty file)", width, "dim") : breakText(budget.take(input.text), width, "added");
  }
}

function todoLines({ text, state }: Todo, budget: TextBudget): readonly Line[] {
  const mark = { open: "[ ]", doing: "[>]", done: "[x]" }[state];
  const line = `${mark} ${budget.take(text)}`;
  return state === "open" ? wrapText(line, budget.width) : wrapText(line, budget.width, state === "done" ? "dim" : "bold");
}

function editLines({ before, after }: TextEdit, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const lines = diffLines(budget.take(before), budget.take(after), budget.width, glyphs);
  return lines.length === 0 ? breakText("(the same text)", budget.width, "dim") : lines;
}
