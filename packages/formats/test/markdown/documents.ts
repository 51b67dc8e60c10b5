import type { AssistantBlock, ContentBlock, Entry, EntryPayload } from "@bough/session-core";
import { markdownOf } from "../../src/markdown/markdown.js";
import type { MarkdownDocument, MarkdownOptions } from "../../src/markdown/markdown-writer.js";

/** A path of these payloads; the ids are e0, e1, … */
export function path(...payloads: readonly EntryPayload[]): Entry[] {
  return payloads.map((payload, at) => ({
    ...payload,
    id: `e${at}`,
    seq: at + 1,
    parentId: at === 0 ? null : `e${at - 1}`,
    createdAtMs: 0,
  }));
}

export function user(content: string | ContentBlock[]): EntryPayload {
  return { type: "message", message: { role: "user", content } };
}

export function assistant(...content: AssistantBlock[]): EntryPayload {
  return { type: "message", message: { role: "assistant", content } };
}

export function call(id: string, name: string, args: Record<string, unknown> = {}): AssistantBlock {
  return { type: "toolCall", id, name, arguments: args };
}

export function result(toolCallId: string, content: string | ContentBlock[], isError = false): EntryPayload {
  return { type: "message", message: { role: "toolResult", toolCallId, toolName: "tool", content, isError } };
}

export function text(words: string): { type: "text"; text: string } {
  return { type: "text", text: words };
}

export function documentOf(entries: MarkdownDocument["entries"], more: Partial<MarkdownDocument> = {}): MarkdownDocument {
  const session = { id: "s1", title: "A title", cwd: null, createdAtMs: Date.UTC(2026, 0, 5, 23) };
  return { session, model: null, entries, labels: new Map(), ...more };
}

export async function written(document: MarkdownDocument, options?: MarkdownOptions): Promise<string> {
  let whole = "";
  for await (const piece of markdownOf(document, options)) whole += piece;
  return whole;
}

/** What stands between the opening lines and the closing one. */
export async function body(entries: readonly Entry[], options?: MarkdownOptions): Promise<string> {
  const whole = await written(documentOf(entries), options);
  return whole.split("\n\n").slice(2, -2).join("\n\n");
}

/** The last line. */
export async function closing(entries: readonly Entry[], options?: MarkdownOptions): Promise<string | undefined> {
  return (await written(documentOf(entries), options)).trimEnd().split("\n").at(-1);
}

/** The lines of a document that stand in no block of code, as CommonMark sees fences at the left margin and in quotes. */
export function linesOutsideCode(markdown: string): string[] {
  const outside: string[] = [];
  let fence = "";
  for (const line of markdown.split("\n")) {
    const [, run = ""] = /^[\s>*+\-\d.)]*?(`{3,})[^`]*$/.exec(line) ?? [];
    if (fence !== "") {
      if (run.length >= fence.length && /^[\s>]*`+$/.test(line)) fence = "";
    } else if (run !== "") fence = run;
    else outside.push(line);
  }
  return fence === "" ? outside : [...outside, "<unclosed fence>"];
}
