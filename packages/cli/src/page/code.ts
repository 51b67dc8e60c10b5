import { computeHunks, patchStyles, signStyle } from "../preview/diff.js";
import type { Style } from "../terminal/line.js";
import { contentHtml, type Html, html, joinHtml, NOTHING } from "./html.js";

/** More lines are folded. */
const MAX_OPEN_LINES = 60;

/** A block of code, folded if it is long. The page's script highlights it, if it knows the language. */
export function codeBlock(text: string, language: string): Html {
  const shown = language === "diff" || language === "patch" ? patchHtml(text) : preHtml("code", text.replace(/\n$/, ""), language);
  const lines = countLines(text);
  return lines <= MAX_OPEN_LINES ? shown : html`<details class="long"><summary>${lines} lines</summary>${shown}</details>`;
}

/** Preformatted text; `output`: as a program printed it. `language`: of the code that it is. */
export function preHtml(kind: "code" | "code written" | "output", text: string, language = ""): Html {
  // A parser drops the newline that follows the tag.
  const kept = text.startsWith("\n") ? "\n" : "";
  return html`<pre class="${kind}"${languageOf(language)}>${kept}${contentHtml(text)}</pre>`;
}

/** Returns the number of lines of a text. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

function languageOf(language: string): Html {
  return /^[\w+#.-]{1,30}$/.test(language) ? html` data-language="${language.toLowerCase()}"` : NOTHING;
}

/** The difference of two texts. Texts that are too large or too different are shown one after the other. */
export function changeHtml(before: string, after: string) {
  const hunks = computeHunks(before, after);
  const lines = hunks?.flatMap(({ place, lines }, at) => (at === 0 ? lines : [place, ...lines]));
  const shown = lines ?? [...signed("-", before), ...signed("+", after)];
  return signedLines(shown, shown.map(signStyle));
}

function signed(sign: string, text: string): readonly string[] {
  return text === "" ? [] : text.split("\n").map((line) => `${sign}${line}`);
}

/** A patch, its lines colored by their signs. */
export function patchHtml(text: string): Html {
  const lines = text.replace(/\n$/, "").split(/\r?\n/);
  return signedLines(lines, patchStyles(lines)).shown;
}

/**
 * Lines of a diff with their signs, and their styles in the terminal, as HTML; and how many of them are added and removed. Neighbors of one
 * style share an element.
 */
function signedLines(lines: readonly string[], styles: readonly (Style | undefined)[]) {
  const runs: Html[] = [];
  let [added, removed, from] = [0, 0, 0];
  for (const [at, style] of styles.entries()) {
    if (style === "added") added += 1;
    if (style === "removed") removed += 1;
    if (at < lines.length - 1 && styles[at + 1] === style) continue;
    runs.push(runHtml(style, lines.slice(from, at + 1).join("\n")));
    from = at + 1;
  }
  return { shown: html`<pre class="diff">${joinHtml(runs)}</pre>`, added, removed };
}

function runHtml(style: Style | undefined, text: string): Html {
  switch (style) {
    case "added":
      return html`<ins>${contentHtml(text)}</ins>`;
    case "removed":
      return html`<del>${contentHtml(text)}</del>`;
    case "heading":
      return html`<span class="place">${contentHtml(text)}</span>`;
    default:
      return html`<span>${contentHtml(text)}</span>`;
  }
}
