import type { Token } from "markdown-it";
import { newMarkdownParser } from "../format/markdown-parser.js";
import { codeBlock } from "./code.js";
import { contentHtml, escapeHtml, type Html, html, renderedHtml } from "./html.js";

/** Longer texts are shown as they are: they are data rather than prose. */
const MAX_LENGTH = 200_000;

/** The level of the headings in a text: all of them are below the heading of their message. */
export type HeadingLevel = 3 | 4;

/**
 * Renders Markdown (CommonMark with tables, strikethrough and bare addresses) as HTML. HTML in the text is shown as text. Links lead
 * to `http`, `https` and `mailto` only; images of the text become links, because the page loads nothing.
 */
export function renderMarkdown(text: string, level: HeadingLevel): Html {
  if (text.trim() === "") return html``;
  if (text.length > MAX_LENGTH) return html`<pre>${text}</pre>`;
  // Invisible characters are removed by the rules that write text, as `text_join` has joined the pieces by then.
  return renderedHtml(parser.render(text, { level }));
}

const parser = newMarkdownParser();
const { rules } = parser.renderer;
rules["text"] = (tokens, at) => contentHtml(tokens[at]?.content ?? "").text;
rules["code_inline"] = (tokens, at) => `<code>${contentHtml(tokens[at]?.content ?? "").text}</code>`;
rules["fence"] = (tokens, at) => codeBlock(tokens[at]?.content ?? "", tokens[at]?.info.trim().split(/\s/, 1)[0] ?? "").text;
rules["code_block"] = (tokens, at) => codeBlock(tokens[at]?.content ?? "", "").text;
rules["link_open"] = (tokens, at) => openLink(addressOf(tokens[at], "href"));
rules["link_close"] = () => "</a>";
rules["image"] = (tokens, at) => {
  const content = tokens[at]?.content ?? "";
  const address = addressOf(tokens[at], "src");
  return `${openLink(address)}[image: ${escapeHtml(content === "" ? address.slice(0, 80) : content)}]</a>`;
};
rules["heading_open"] = (tokens, at, _options, env) => `<h${levelIn(env)} class="${tokens[at]?.tag ?? ""}">`;
rules["heading_close"] = (_tokens, _at, _options, env) => `</h${levelIn(env)}>\n`;
// A wide table scrolls by itself. With a tab index it can be scrolled by keys.
rules["table_open"] = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
rules["table_close"] = () => "</table></div>\n";
// The attribute `style` of a cell is refused by the policy of the page.
for (const rule of ["th_open", "td_open"]) rules[rule] = (tokens, at) => `<${tokens[at]?.tag ?? "td"}>`;

function addressOf(token: Token | undefined, attribute: "href" | "src"): string {
  return String(token?.attrGet(attribute) ?? "");
}

function levelIn(env: Readonly<Record<string, unknown>> | undefined): HeadingLevel {
  return env?.["level"] === 3 ? 3 : 4;
}

/** The start of a link. One with another scheme, or without any, has no address. */
function openLink(address: string): string {
  return isSafeAddress(address) ? `<a href="${escapeHtml(address)}" rel="noopener noreferrer" target="_blank">` : "<a>";
}

/** True if a link may lead to the address: `http`, `https` or `mailto`. */
function isSafeAddress(address: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f]/i.test(address);
}
