import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";

declare global {
  /** The grammars that the scripts of the languages define for this script. */
  var boughLanguages: [names: string[], grammar: LanguageFn][] | undefined;
}

const lowlight = createLowlight();
for (const [[name = "", ...aliases], grammar] of globalThis.boughLanguages ?? []) {
  lowlight.register(name, grammar);
  if (aliases.length > 0) lowlight.registerAlias({ [name]: aliases });
}

/** Longer code stays as it is: coloring it would take seconds. */
const MAX_LENGTH = 100_000;

/** The longest text that is colored at once, in UTF-16 code units: some grammars take quadratic time in a run of words. */
const PIECE = 20_000;

/** The longest time of coloring without a pause, in milliseconds. The rest of a longer code stays without colors. */
const ENOUGH_MS = 200;

type Tree = ReturnType<typeof lowlight.highlight>["children"][number];

/**
 * Colors the code in an element that is on screen, once. The nodes are made one by one: no text is parsed as HTML. What takes longer goes on
 * after a pause, and then `onLater` is called.
 */
export function highlightCode(root: ParentNode, onLater: () => void): void {
  const end = performance.now() + ENOUGH_MS;
  for (const code of root.querySelectorAll<HTMLElement>("[data-language]")) {
    const { language = "" } = code.dataset;
    if (!code.checkVisibility()) continue;
    if (performance.now() > end) {
      setTimeout(() => {
        highlightCode(root, onLater);
        onLater();
      });
      return;
    }
    delete code.dataset["language"];
    const text = code.textContent;
    if (lowlight.registered(language) && text.length <= MAX_LENGTH) code.replaceChildren(...colored(language, text));
  }
}

/** A text in color, as far as the time allows. */
function colored(language: string, text: string): readonly Node[] {
  const end = performance.now() + ENOUGH_MS;
  const nodes: Node[] = [];
  let from = 0;
  while (from < text.length && performance.now() < end) {
    const to = pieceEnd(text, from);
    for (const tree of lowlight.highlight(language, text.slice(from, to)).children) nodes.push(toNode(tree));
    from = to;
  }
  return from < text.length ? [...nodes, document.createTextNode(text.slice(from))] : nodes;
}

/** The end of the piece that begins at `from`: that of its last line that fits. */
function pieceEnd(text: string, from: number): number {
  if (text.length - from <= PIECE) return text.length;
  const line = text.lastIndexOf("\n", from + PIECE - 1) + 1;
  return line > from ? line : from + PIECE;
}

function toNode(tree: Tree): Node {
  if (tree.type === "text") return document.createTextNode(tree.value);
  const span = document.createElement("span");
  if (tree.type !== "element") return span;
  const { className } = tree.properties;
  span.className = Array.isArray(className) ? className.join(" ") : "";
  span.append(...tree.children.map(toNode));
  return span;
}
