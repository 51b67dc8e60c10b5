import type { Entry } from "@bough/session-core";
import {
  type CallPart,
  counted,
  type EntryView,
  type NotePart,
  shareLine,
  shortLine,
  summaryGist,
  type ViewPart,
  viewEntry,
} from "@bough/session-core/view";
import { attachmentName, partLines } from "../format/entry-lines.js";
import { wrapLine } from "../format/wrap.js";
import { markdownLines } from "../preview/markdown.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

const MAX_RESULT_LINES = 4;
/** Longest text of a summary, in UTF-16 code units; the tree shows it whole. */
const SUMMARY_CHARS = 240;

/** Draws an entry for the shell, with an empty line after it. Entries without text for the user give no lines. */
export function transcriptLines(entry: Entry, width: number, glyphs: Glyphs): readonly Line[] {
  const view = viewEntry(entry);
  switch (view.kind) {
    case "user":
      return promptLines(textOf(view), width, glyphs);
    case "host":
      // A message for the model that a program added to those of the conversation; the tree shows it.
      return entry.type === "message" ? [] : [...hostLines(view, width), []];
    case "assistant":
    case "result":
    case "command":
    case "compaction":
    case "branch-summary":
    case "model":
    case "thinking-level":
      return [...view.parts.flatMap((part) => shortLines(part, view, width, glyphs)), []];
    case "system":
    case "edit":
    case "custom":
    case "foreign":
      return [];
  }
}

/** A prompt of the user, with the cursor sign before it. */
export function promptLines(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = safeLines(text).flatMap((line) => wrapLine([styled("bold", line)], Math.max(width - 2, 1)));
  return [...lines.map((line, at): Line => [at === 0 ? styled("user", `${glyphs.cursor} `) : "  ", ...line]), []];
}

/** The texts of an entry, with images and files by their names. */
function textOf({ parts }: Pick<EntryView, "parts">): string {
  const texts = parts.flatMap((part) => {
    if (part.type === "markdown" || part.type === "text") return [part.text];
    return part.type === "image" || part.type === "file" ? [attachmentName(part)] : [];
  });
  return texts.join("\n");
}

/** The first lines of a message of the host. */
function hostLines({ parts }: EntryView, width: number): readonly Line[] {
  return parts
    .flatMap(partLines)
    .slice(0, MAX_RESULT_LINES)
    .filter((line) => lineWidth(line) > 0)
    .flatMap((line) => wrapLine(line, width));
}

function shortLines(part: ViewPart, { name }: EntryView, width: number, glyphs: Glyphs): readonly Line[] {
  switch (part.type) {
    case "markdown":
      return part.text.trim() === "" ? [] : markdownLines(part.text, width, glyphs);
    case "text":
      return resultLines(part.text, false, width, glyphs);
    case "code":
      return [[styled("bold", `$ ${part.text}`)]];
    case "call":
      return [callLine(part, width, glyphs)];
    case "result":
      return resultLines(textOf(part), part.isError, width, glyphs);
    case "note":
      return noteLines(part, width);
    case "fact":
      return [[styled("dim", `${part.name}: ${part.value}`)]];
    case "summary":
      return wrapLine([styled("summary", `[${name}]`), " ", shortLine(summaryGist(part.stored), SUMMARY_CHARS)], width);
    case "thinking":
    case "json":
    case "image":
    case "file":
    case "foreign":
      return [];
  }
}

/** A tool call in one line. */
function callLine(call: CallPart, width: number, glyphs: Glyphs): Line {
  return fitLine(
    [styled("dim", shareLine("", [call], width, { widthOf: displayWidth, ellipsis: glyphs.ellipsis }))],
    width,
    glyphs.ellipsis,
  );
}

/** The first 4 lines of tool output, and the number of the others. */
function resultLines(text: string, isError: boolean, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = safeLines(text.trimEnd());
  const shown = lines
    .slice(0, MAX_RESULT_LINES)
    .map((line): Line => fitLine([styled(isError ? "error" : "dim", `  ${line}`)], width, glyphs.ellipsis));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, [styled("dim", `  ${glyphs.ellipsis} ${counted(rest, "more line")}`)]] : shown;
}

function noteLines({ about, text, detail, inFields }: NotePart, width: number): readonly Line[] {
  if (detail !== undefined) return wrapLine([styled("error", detail)], width);
  switch (about) {
    case "stopped":
      return [[styled("dim", "(stopped)")]];
    case "cut":
      return [[styled("dim", "(cut: the model's limit)")]];
    case "failed":
      return wrapLine([styled("error", `(${text})`)], width);
    case "cancelled":
    case "exit-code":
    case "truncated":
    case "private":
      return inFields ? [] : wrapLine([styled("dim", `(${text})`)], width);
  }
}
