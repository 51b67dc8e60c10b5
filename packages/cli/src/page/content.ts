import type { ContentBlock, Entry } from "@bough/session-core";
import { describeFile, type Step } from "@bough/session-core/view";
import { bytes, counted } from "../format/numbers.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { type HeadingLevel, renderMarkdown } from "./markdown.js";

/** What is shown of a session, and how. */
export interface ShownParts {
  /** Whether the thinking of models is shown. */
  readonly thinking: boolean;
  /** Tool output: none, its first 20 lines, or all. */
  readonly toolOutput: "none" | "short" | "full";
  /** The directory of the session; paths inside it are shown relative to it. */
  readonly directory: string | null;
  /** Replaces secrets that are recognized by what stands before them, as in `"password": "…"`. */
  readonly mask: (text: string) => string;
}

/** The blocks of a content in order. `level`: that of headings in the text. */
export function contentHtml(content: string | readonly ContentBlock[], level: HeadingLevel): Html {
  if (typeof content === "string") return textHtml(content, level);
  return joinHtml(content.map((block) => (block.type === "text" ? textHtml(block.text, level) : attachmentHtml(block))));
}

/** A text in Markdown; nothing if it is empty. */
export function textHtml(text: string, level: HeadingLevel): Html {
  return text.trim() === "" ? NOTHING : html`<div class="text" dir="auto">${renderMarkdown(text, level)}</div>`;
}

// The types that a browser shows as pictures and nothing else. SVG is a document of its own.
const SAFE_IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

/** An image, or a line about a file or a block of an unknown type. */
export function attachmentHtml(block: Exclude<ContentBlock, { type: "text" }>): Html {
  switch (block.type) {
    case "image":
      return SAFE_IMAGES.has(block.mimeType)
        ? html`<img src="data:${block.mimeType};base64,${block.data}" alt="Image (${block.mimeType}, ${sizeOf(block.data)})" loading="lazy">`
        : html`<p class="note">[image: ${block.mimeType}, ${sizeOf(block.data)}]</p>`;
    case "file":
      return html`<p class="note">[file: ${describeFile(block)}${block.data === undefined ? "" : `, ${sizeOf(block.data)}`}]</p>`;
    case "foreign":
      return html`<p class="note">[${block.originalType}]</p>`;
  }
}

// Four characters of base64 are three bytes.
function sizeOf(base64: string): string {
  return bytes(Math.floor((base64.replace(/=+$/, "").length * 3) / 4));
}

/** The link to an entry in the page. */
export function entryLink(id: string): string {
  return `#e=${encodeURIComponent(id.toWellFormed())}`;
}

type Kind = "private" | "thinking" | "output" | "hidden" | "edit" | "custom" | "foreign";

// In singular and plural.
const NAMES: Readonly<Record<Kind, readonly [one: string, several: string]>> = {
  private: ["command kept out of the conversation", "commands kept out of the conversation"],
  thinking: ["thought of the model", "thoughts of the model"],
  output: ["tool output", "tool outputs"],
  hidden: ["hidden message", "hidden messages"],
  edit: ["context edit", "context edits"],
  custom: ["custom entry", "custom entries"],
  foreign: ["record of another program", "records of another program"],
};

/** Counts what a page leaves out. */
export class Omissions {
  readonly #counts = new Map<Kind, number>();

  count(kind: Kind, times = 1): void {
    if (times > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  /** Counts what is not shown of a step. */
  countIn(step: Step, { thinking, toolOutput }: ShownParts): void {
    if (step.kind === "entry") {
      this.#countEntry(step.entry, toolOutput);
      return;
    }
    if (!thinking) this.count("thinking", step.message.content.filter(({ type }) => type === "thinking").length);
    if (toolOutput === "none") for (const results of step.results.values()) this.count("output", results.length);
  }

  #countEntry(entry: Entry, toolOutput: ShownParts["toolOutput"]): void {
    if (entry.type === "context_edit") this.count("edit");
    if (entry.type === "custom" || entry.type === "foreign") this.count(entry.type);
    const message = entry.type === "message" ? entry.message : undefined;
    if (entry.type === "custom_message" ? entry.display === false : message?.role === "custom" && message.display === false)
      this.count("hidden");
    if (toolOutput === "none" && (message?.role === "toolResult" || message?.role === "bashExecution")) this.count("output");
  }

  /** One line for a person; undefined: nothing was left out. */
  line(): string | undefined {
    if (this.#counts.size === 0) return undefined;
    return `Left out of this page: ${[...this.#counts].map(([kind, times]) => counted(times, ...NAMES[kind])).join(", ")}.`;
  }
}
