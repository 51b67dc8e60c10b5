import type { Entry } from "../../entry/entry.js";
import { oneLine, previewOf } from "../../entry/preview.js";
import { textOf } from "../../entry/text.js";
import { codeSpan } from "./fence.js";
import type { MarkdownDocument } from "./markdown-document.js";
import { escapedLine } from "./visible.js";

/** Longest title made of somebody's words, in code points. */
const TITLE_LENGTH = 80;

/** The document's title, or null when neither the session nor this entry gives one. */
export function titleFrom(document: MarkdownDocument, entry: Entry | undefined): string | null {
  const given = document.session.title?.trim() ?? "";
  if (given !== "") return given;
  if (entry?.type !== "message" || entry.message.role !== "user") return null;
  // The first paragraph: what comes behind it is often a listing or a log.
  const [first = ""] = textOf(entry.message.content)
    .trimStart()
    .split(/\n\s*\n/, 1);
  const paragraph = oneLine(first);
  const words = [...(paragraph === "" ? previewOf(entry) : paragraph)];
  if (words.length === 0) return null;
  return words.length > TITLE_LENGTH
    ? `${words
        .slice(0, TITLE_LENGTH - 1)
        .join("")
        .trimEnd()}…`
    : words.join("");
}

/** The first lines: what this is, from when, by which model, where. */
export function openingSections(document: MarkdownDocument, title: string | null): readonly string[] {
  const { session, model } = document;
  const facts = [
    dayOf(session.createdAtMs),
    model === null ? "" : escapedLine(model),
    codeSpan(session.cwd ?? ""),
    `session ${codeSpan(session.id)}`,
  ];
  return [`# ${escapedLine(title ?? `Session ${session.id}`)}`, facts.filter((fact) => fact !== "").join(" · ")];
}

/** The day in UTC; nothing for a time that is none. */
function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10);
}
