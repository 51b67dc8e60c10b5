import type { Entry } from "@bough/session-core";
import { type AttachmentPart, cleanText, isPrivate, type ViewPart, viewEntry } from "@bough/session-core/view";
import { formatIsoTime } from "../checkpoints/checkpoint.js";
import { formatCall } from "./call-text.js";

/** A line in the text of an entry that looks like the heading of another one. */
const HEAD = /^(?=[^\S\n]{0,100}[[［][^\]］\n]{1,128}[\]］][^\S\n]{0,20}(?:\d{4}-\d\d-\d\d\b|time unknown))/gm;

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
