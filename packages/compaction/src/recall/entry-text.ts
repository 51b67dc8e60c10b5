import type { Entry, ToolCallBlock } from "@bough/session-core";
import { type AttachmentPart, cleanText, findTextEdits, isPrivate, type ViewPart, viewEntry } from "@bough/session-core/view";
import { formatIsoTime } from "../checkpoints/checkpoint.js";

/** A line in the text of an entry that looks like the heading of another one, also behind joiners and marks, which some scripts need. */
const HEAD =
  /^(?=(?:[^\S\n]|[\p{Cf}\p{M}]){0,100}[[［][^\]］\n]{1,128}[\]］](?:[^\S\n]|[\p{Cf}\p{M}]){0,20}(?:\d{4}-\d\d-\d\d\b|time unknown))/gmu;

/** Formats one line: id, time and speaker. */
export function formatHead(entry: Entry): string {
  const mark = isPrivate(entry) ? ", private" : "";
  return cleanText(`[${entry.id}] ${formatTime(entry.createdAtMs)} ${formatSpeaker(entry)}${mark}`).replace(/\s+/g, " ");
}

/**
 * The content of an entry word for word: texts, arguments of tools with their line breaks, tool output; images by their kind. Omits data
 * of the host, and commands that the user ran outside of the conversation unless `includePrivate` is set. Removes control characters and
 * quotes lines that look like the heading of another entry.
 */
export function formatBody(entry: Entry, includePrivate = false): string {
  if (isPrivate(entry) && !includePrivate) return "(a command that the user ran outside of this conversation)";
  return cleanText(formatContent(entry)).replace(HEAD, "> ").trimEnd();
}

/** Returns the speaker of an entry: the role of a message, the tool of a result, the type of another entry. */
export function formatSpeaker(entry: Entry): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  const { message } = entry;
  if (message.role !== "toolResult") return message.role;
  return `${message.isError ? "error" : "result"} of ${message.toolName ?? "a tool"}`;
}

function formatContent(entry: Entry): string {
  const view = viewEntry(entry, { asStored: true });
  if (view.kind === "custom" || view.kind === "foreign") return `(${view.heading.charAt(0).toLowerCase()}${view.heading.slice(1)})`;
  return view.parts
    .map(formatPart)
    .filter((text) => text !== "")
    .join("\n");
}

function formatPart(part: ViewPart): string {
  switch (part.type) {
    case "markdown":
    case "text":
      return part.text;
    case "thinking":
      return part.isHidden ? "" : `(thinking) ${part.text}`;
    case "code":
      return `$ ${part.text}`;
    case "json":
      return "";
    case "image":
    case "file":
    case "foreign":
      return formatAttachment(part);
    case "note":
      return part.detail === undefined ? "" : `(failed: ${part.detail})`;
    case "fact":
      return `${part.name}: ${part.value}`;
    case "summary":
      return part.stored;
    case "call":
      return formatCall(part.call);
    case "result":
      return part.parts.map(formatPart).join("\n");
  }
}

function formatAttachment(part: AttachmentPart): string {
  switch (part.type) {
    case "image":
      return "(image)";
    case "file":
      return `(file ${part.description})`;
    case "foreign":
      return `(${part.name})`;
  }
}

/** A time in UTC, to the minute. */
export function formatTime(ms: number): string {
  return formatIsoTime(ms)?.slice(0, 16).replace("T", " ") ?? "time unknown";
}

/** The longest argument in the line of the call, in UTF-16 code units. */
const SHORT = 160;

/**
 * A tool call as text: its name and short arguments on one line, then each long argument with its line breaks. Of an edit, the new text
 * comes before the old one, because readers and excerpts take the first.
 *
 * @example
 * formatCall({ type: "toolCall", id: "c", name: "write", arguments: { path: "a.ts", content: "one\ntwo" } });
 * // (calls write) path: a.ts
 * // content:
 * // one
 * // two
 */
function formatCall({ name, arguments: args }: ToolCallBlock): string {
  const found = findTextEdits(args);
  const others = Object.entries(args).filter(([key]) => found?.names.includes(key) !== true);
  const given = [...others.flatMap(([key, value]) => listArguments(key, value)), ...(found === undefined ? [] : listEdits(found))];
  const short = given.filter(isShort).map(({ key, text }) => `${key}: ${text}`);
  const long = given.filter((one) => !isShort(one)).map(({ key, text }) => `${key}:\n${text}`);
  return [`(calls ${name}) ${short.join(", ")}`.trimEnd(), ...long].join("\n");
}

interface Argument {
  readonly key: string;
  readonly text: string;
}

function isShort({ text }: Argument): boolean {
  return text.length <= SHORT && !text.includes("\n");
}

function listEdits({ edits, names }: NonNullable<ReturnType<typeof findTextEdits>>): readonly Argument[] {
  const [first = "edit", second = "old text"] = names;
  // A single edit is two arguments, of which the first is the old text; several are the items of one.
  const isSingle = names.length === 2;
  return edits.flatMap(({ before, after, rest }, at) => [
    ...Object.entries(rest).flatMap(([key, value]) => listArguments(`${first}[${at}].${key}`, value)),
    { key: isSingle ? second : `${first}[${at}] new text`, text: withBreak(after) },
    { key: isSingle ? first : `${first}[${at}] old text`, text: withBreak(before) },
  ]);
}

/** Texts of an edit are always below their name. */
function withBreak(text: string): string {
  return text.includes("\n") ? text : `${text}\n`;
}

/** The texts inside an argument, each with the path to it. A model wrote them, so they may have any shape. */
function listArguments(key: string, value: unknown): readonly Argument[] {
  if (typeof value === "string") return [{ key, text: value }];
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [{ key, text: String(value) }];
  const members = Object.entries(value);
  if (members.length === 0) return [{ key, text: Array.isArray(value) ? "[]" : "{}" }];
  return members.flatMap(([name, member]) => listArguments(Array.isArray(value) ? `${key}[${name}]` : `${key}.${name}`, member));
}
