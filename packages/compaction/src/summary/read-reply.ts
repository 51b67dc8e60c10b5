import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { cleanText } from "../text/clean-text.js";
import { headOf } from "./text/cut-text.js";

/** What a model's reply says. */
export interface ReadReply {
  readonly body: string;
  /** Two to six words, where the prompt asked for them (Copilot CLI's `<checkpoint_title>`). */
  readonly title: string | null;
}

/** How long a title may be, in UTF-16 code units: it becomes part of a file's name. */
const MAX_TITLE_CHARS = 80;

/**
 * The summary in a reply: without the model's analysis, a code fence around the whole, and control characters. A `<summary>`
 * that was opened and never closed reaches to the end (VS Code's rule). Pure, linear.
 *
 * @throws {SummaryRejectedError} `no-summary-tag`: `needsTag` and there is none; `empty`: nothing is left.
 */
export function readSummaryReply(text: string, { needsTag }: { readonly needsTag: boolean }): ReadReply {
  const said = withoutAnalysis(withoutFence(cleanText(text).trim()));
  const titled = takeTitle(said);
  const inner = innerSummary(titled.rest, needsTag);
  if (inner === null) throw new SummaryRejectedError("no-summary-tag", text);
  const body = withoutFence(inner.trim());
  if (body === "") throw new SummaryRejectedError("empty", text);
  return { body, title: titled.title };
}

const FENCE = /^(`{3,}|~{3,})(.*)$/;

/** A text without the fence that is its first and last line; a fence that closes earlier belongs to the text. */
function withoutFence(text: string): string {
  const lines = text.split("\n");
  return lines.length > 1 && endOfFence(lines) === lines.length - 1 ? lines.slice(1, -1).join("\n").trim() : text;
}

/** The line that closes the fence of the first one; -1: there is none. Inside, a fence with a language opens one more. */
function endOfFence(lines: readonly string[]): number {
  const mark = FENCE.exec(lines[0] ?? "")?.[1];
  if (mark === undefined) return -1;
  let depth = 0;
  for (const [at, line] of lines.entries()) {
    const fence = FENCE.exec(line);
    if (fence === null || fence[1] !== mark) continue;
    depth += at === 0 || fence[2]?.trim() !== "" ? 1 : -1;
    if (depth === 0) return at;
  }
  return -1;
}

function withoutAnalysis(text: string): string {
  const open = /^\s*<analysis>/i.exec(text);
  if (open === null) return text;
  const close = /<\/analysis>/i.exec(text);
  if (close !== null) return text.slice(close.index + close[0].length).trim();
  const summary = /^[ \t]*<summary>/im.exec(text);
  return summary === null ? "" : text.slice(summary.index).trim();
}

function takeTitle(text: string): { readonly title: string | null; readonly rest: string } {
  const open = /<checkpoint_title>/i.exec(text);
  if (open === null) return { title: null, rest: text };
  const after = open.index + open[0].length;
  const close = /<\/checkpoint_title>/i.exec(text.slice(after));
  // Without its end, the title is the rest of the line.
  const endOfLine = text.indexOf("\n", after);
  const inner = close?.index ?? (endOfLine === -1 ? text.length : endOfLine) - after;
  const title = headOf(
    text
      .slice(after, after + inner)
      .replace(/\s+/g, " ")
      .trim(),
    MAX_TITLE_CHARS,
  ).trim();
  const rest = text.slice(0, open.index) + text.slice(after + inner + (close?.[0].length ?? 0));
  return { title: title === "" ? null : title, rest: rest.trim() };
}

/** What stands in `<summary>`; the whole where none is needed and the reply does not start with one; null: there is none. */
function innerSummary(text: string, needsTag: boolean): string | null {
  const open = /^[ \t]*<summary>/im.exec(text) ?? (needsTag ? /<summary>/i.exec(text) : null);
  if (open === null) return needsTag ? null : text;
  // A reply that needs no tag and speaks of one further down is whole.
  if (!needsTag && open.index > 0) return text;
  const from = open.index + open[0].length;
  const close = text.toLowerCase().lastIndexOf("</summary>");
  return text.slice(from, close >= from ? close : text.length);
}
