import type { SessionMasker } from "@bough/formats/secrets";
import { type AttachmentPart, bytes, counted, type EntryView, type ViewPart } from "@bough/session-core/view";
import type { Folds } from "./folds.js";
import { type Html, html, NOTHING } from "./html.js";
import { type HeadingLevel, renderMarkdown } from "./markdown.js";

/** Replaces the secrets of a page: in its entries, in texts of one line, and in other values. */
export type Masks = Pick<SessionMasker, "maskEntry" | "maskLine" | "maskValue">;

/** Replaces nothing. */
export const NO_MASKS: Masks = { maskEntry: (entry) => entry, maskLine: (text) => text, maskValue: (value) => value };

/** The parts of a session that are shown, and their form. */
export interface ShownParts {
  /** True if the thinking of models is shown. */
  readonly thinking: boolean;
  /** Tool output: none, its first 20 lines, or all. */
  readonly toolOutput: "none" | "short" | "full";
  readonly masks: Masks;
  readonly folds: Folds;
}

/** A text in Markdown; nothing if it is empty. */
export function textHtml(text: string, level: HeadingLevel): Html {
  return text.trim() === "" ? NOTHING : html`<div class="text" dir="auto">${renderMarkdown(text, level)}</div>`;
}

// The types that a browser shows as pictures and nothing else. SVG is a document of its own.
const SAFE_IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

/** An image, or a line about a file or a block of an unknown type. */
export function attachmentHtml(part: AttachmentPart): Html {
  switch (part.type) {
    case "image":
      return SAFE_IMAGES.has(part.mimeType)
        ? html`<img src="data:${part.mimeType};base64,${part.data}" alt="Image (${part.mimeType}, ${bytes(part.bytes)})" loading="lazy">`
        : html`<p class="note">[image: ${part.mimeType}, ${bytes(part.bytes)}]</p>`;
    case "file":
      return html`<p class="note">[file: ${part.description}${part.bytes === null ? "" : `, ${bytes(part.bytes)}`}]</p>`;
    case "foreign":
      return html`<p class="note">[${part.name}]</p>`;
  }
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

  /** Adds what another part of the page leaves out. */
  add(other: Omissions): void {
    for (const [kind, times] of other.#counts) this.count(kind, times);
  }

  /** Counts what is not shown of a step. */
  countIn({ kind, parts, isHidden }: EntryView, { thinking, toolOutput }: ShownParts): void {
    if (isHidden) this.count("hidden");
    else if (kind === "edit" || kind === "custom" || kind === "foreign") this.count(kind);
    if (!thinking) this.count("thinking", parts.filter(({ type }) => type === "thinking").length);
    if (toolOutput === "none") this.count("output", kind === "command" ? 1 : parts.filter(hasOutput).length);
  }

  /** One line for a person; undefined: nothing was left out. */
  line(): string | undefined {
    if (this.#counts.size === 0) return undefined;
    return `Left out of this page: ${[...this.#counts].map(([kind, times]) => counted(times, ...NAMES[kind])).join(", ")}.`;
  }
}

function hasOutput(part: ViewPart): boolean {
  return part.type === "result" || (part.type === "call" && part.result !== null);
}
