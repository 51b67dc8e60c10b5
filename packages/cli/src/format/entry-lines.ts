import type { ContextMessage, Entry, SearchHit } from "@bough/session-core";
import {
  type AttachmentPart,
  bytes,
  type CallPart,
  type NotePart,
  type PriceList,
  shareLine,
  titleOf,
  type ViewPart,
  viewEntry,
} from "@bough/session-core/view";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import { toPrintedJson } from "../terminal/printer.js";
import { safeLines } from "../terminal/safe.js";

/** The kind of an entry, as shown on screen. */
export function entryKind(entry: Entry): string {
  return titleOf(entry).name;
}

/** An entry in full: its fields, then its text. */
export function entryLines(entry: Entry, prices?: PriceList): readonly Line[] {
  const { fields, parts } = viewEntry(entry, { prices });
  return [...fields.map(({ name, value }) => fieldLine(name, String(value))), ...parts.flatMap(partLines)];
}

/** The name of a role on screen. */
export function roleName(role: ContextMessage["role"]): string {
  switch (role) {
    case "toolResult":
      return "tool result";
    case "bashExecution":
      return "command";
    case "compactionSummary":
      return "compaction summary";
    case "branchSummary":
      return "branch summary";
    case "user":
    case "assistant":
    case "custom":
      return role;
  }
}

const HIT_KINDS: Readonly<Record<string, string>> = { toolResult: "result", bashExecution: "bash", branch_summary: "branch summary" };

/** The kind of a hit of a search, as the rows of a tree name it. */
export function hitKind({ role, type }: Pick<SearchHit, "role" | "type">): string {
  const kind = role ?? type;
  return HIT_KINDS[kind] ?? kind;
}

/** The content of a message in full, a summary as the model gets it. */
export function messageLines(message: ContextMessage): readonly Line[] {
  if (message.role === "compactionSummary" || message.role === "branchSummary") return textLines(message.summary);
  return viewEntry({ type: "message", message }, { asStored: true }).parts.flatMap(partLines);
}

/** The lines of a text. */
export function textLines(text: string): readonly Line[] {
  return text === "" ? [] : safeLines(text).map((line) => [line]);
}

/** A part in full, without wrapping. */
export function partLines(part: ViewPart): readonly Line[] {
  switch (part.type) {
    case "markdown":
    case "text":
    case "summary":
      return textLines(part.text);
    case "thinking":
      return [[styled("dim", "(thinking)")], ...safeLines(part.text).map((line) => [styled("dim", line)])];
    case "code":
      return [[styled("bold", `$ ${part.text}`)]];
    case "json":
      return jsonLines(part.value);
    case "image":
    case "file":
      return [[styled("dim", attachmentName(part))]];
    case "foreign":
      return [[styled("dim", attachmentName(part))], ...jsonLines(part.value)];
    case "note":
      return noteLines(part);
    case "fact":
      return [fieldLine(part.name, part.value)];
    case "call":
      return callLines(part);
    case "result":
      return [...(part.isError ? [[styled("error", "(error)")]] : []), ...part.parts.flatMap(partLines)];
  }
}

/** An image, a file or a block of an unknown type in brackets: `[image image/png, 1.2 kB]`. */
export function attachmentName(part: AttachmentPart): string {
  switch (part.type) {
    case "image":
      return `[image ${part.mimeType}, ${bytes(part.bytes)}]`;
    case "file":
      return `[file ${part.description}${part.bytes === null ? "" : `, ${bytes(part.bytes)}`}]`;
    case "foreign":
      return `[${part.name}]`;
  }
}

function noteLines({ text, detail, inFields }: NotePart): readonly Line[] {
  if (detail !== undefined) return [[styled("error", detail)]];
  return inFields ? [] : [[styled("dim", `(${text})`)]];
}

/** The widest line of a tool call; its arguments follow it in full. */
const CALL_WIDTH = 100;

function callLines({ call, name, detail }: CallPart): readonly Line[] {
  return [
    [styled("bold", shareLine("", [{ name, detail }], CALL_WIDTH))],
    [styled("dim", `call ${call.id}`)],
    ...jsonLines(call.arguments),
  ];
}

/** A value as indented JSON. */
function jsonLines(value: unknown): readonly Line[] {
  return textLines(toPrintedJson(value) ?? "");
}
