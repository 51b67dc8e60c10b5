import { computeHunks } from "../preview/diff.js";
import { contentHtml, type Html, html, joinHtml, NOTHING } from "./html.js";

/** More lines are folded. */
const MAX_OPEN_LINES = 60;

/** A block of code, folded if it is long. The page's script highlights it, if it knows the language. */
export function codeBlock(text: string, language: string): Html {
  const shown = language === "diff" || language === "patch" ? patchHtml(text) : preHtml("code", text.replace(/\n$/, ""), language);
  return foldedIfLong(shown, text, MAX_OPEN_LINES);
}

/** A text as a program printed it, folded if it is long. */
export function outputBlock(text: string, language = ""): Html {
  return preHtml("output", text, language);
}

/** Preformatted text. `language`: of the code that it is. */
export function preHtml(kind: "code" | "code written" | "output", text: string, language = ""): Html {
  // A parser drops the newline that follows the tag.
  const kept = text.startsWith("\n") ? "\n" : "";
  return html`<pre class="${kind}"${languageOf(language)}>${kept}${contentHtml(text)}</pre>`;
}

function foldedIfLong(shown: Html, text: string, most: number): Html {
  const lines = countLines(text);
  return lines <= most ? shown : html`<details class="long"><summary>${lines} lines</summary>${shown}</details>`;
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

/** A change as HTML, and how many lines it adds and removes. */
export interface ChangeHtml {
  readonly shown: Html;
  readonly added: number;
  readonly removed: number;
}

/** The difference of two texts. Texts that are too large or too different are shown one after the other. */
export function changeHtml(before: string, after: string): ChangeHtml {
  const hunks = computeHunks(before, after);
  if (hunks === undefined) return signedLines([...signed("-", before), ...signed("+", after)]);
  const newlineDiffers = before.endsWith("\n") !== after.endsWith("\n") && before !== "" && after !== "";
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }, at) => [
    ...(at === 0 ? [] : [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`]),
    ...lines.filter((line) => newlineDiffers || !line.startsWith("\\")),
  ]);
  return signedLines(lines);
}

function signed(sign: string, text: string): readonly string[] {
  return text === "" ? [] : text.split("\n").map((line) => `${sign}${line}`);
}

/** A patch, its lines colored by their signs. */
export function patchHtml(text: string): Html {
  return signedLines(text.replace(/\n$/, "").split(/\r?\n/)).shown;
}

type LineKind = "ins" | "del" | "place" | "same";

/** Lines of a diff with their signs. Neighbors of one kind share an element. */
function signedLines(lines: readonly string[]): ChangeHtml {
  const runs: Html[] = [];
  let [added, removed, from] = [0, 0, 0];
  for (const [at, line] of lines.entries()) {
    const kind = kindOf(line);
    if (kind === "ins") added += 1;
    if (kind === "del") removed += 1;
    const next = lines[at + 1];
    if (next !== undefined && kindOf(next) === kind) continue;
    runs.push(runHtml(kind, lines.slice(from, at + 1).join("\n")));
    from = at + 1;
  }
  return { shown: html`<pre class="diff">${joinHtml(runs)}</pre>`, added, removed };
}

function runHtml(kind: LineKind, text: string): Html {
  switch (kind) {
    case "ins":
      return html`<ins>${contentHtml(text)}</ins>`;
    case "del":
      return html`<del>${contentHtml(text)}</del>`;
    case "place":
      return html`<span class="place">${contentHtml(text)}</span>`;
    case "same":
      return html`<span>${contentHtml(text)}</span>`;
  }
}

function kindOf(line: string): LineKind {
  if (/^(?:@@|diff --git |\*\*\* |(?:---|\+\+\+) )/.test(line)) return "place";
  if (line.startsWith("+")) return "ins";
  return line.startsWith("-") ? "del" : "same";
}
