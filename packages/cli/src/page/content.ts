import type { ContentBlock } from "@bough/session-core";
import { describeFile } from "@bough/session-core/internals";
import { bytes } from "../format/numbers.js";
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
