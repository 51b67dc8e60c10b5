import { removeInvisible } from "@bough/session-core/view";

/** A piece of HTML that is safe to write. Only `html`, `joinHtml` and `renderedHtml` make one. */
export class Html {
  readonly text: string;

  /** @internal */
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | undefined | readonly Html[];

/** No HTML. */
export const NOTHING: Html = new Html("");

/**
 * Builds HTML from a template. Texts are escaped, for an element's content as well as for a quoted attribute, and lose control
 * characters, invisible characters and marks of the writing direction; `Html` is inserted as it is; undefined is nothing.
 *
 * @example
 * html`<p title="${title}">${text}</p>`;
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0] ?? "";
  for (const [at, value] of values.entries()) text += htmlText(value) + (strings[at + 1] ?? "");
  return new Html(text);
}

/** Pieces one after the other. */
export function joinHtml(pieces: readonly Html[], separator = ""): Html {
  return new Html(pieces.map(({ text }) => text).join(separator));
}

/** HTML that a Markdown renderer made, which escapes what it renders. */
export function renderedHtml(text: string): Html {
  return new Html(text);
}

function htmlText(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeHtml(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes a text for the content of an element or a quoted attribute; see `html`. */
export function escapeHtml(text: string): string {
  return removeInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
