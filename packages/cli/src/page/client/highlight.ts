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

type Tree = ReturnType<typeof lowlight.highlight>["children"][number];

/** Colors the code in an element that is on screen, once. The nodes are made one by one: no text is parsed as HTML. */
export function highlightCode(root: ParentNode): void {
  for (const code of root.querySelectorAll<HTMLElement>("[data-language]")) {
    const { language = "" } = code.dataset;
    if (!code.checkVisibility()) continue;
    delete code.dataset["language"];
    const text = code.textContent;
    if (lowlight.registered(language) && text.length <= MAX_LENGTH)
      code.replaceChildren(...lowlight.highlight(language, text).children.map(toNode));
  }
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
