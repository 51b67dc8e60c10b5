/** The actions of keys. */
export interface KeyActions {
  readonly moveStep: (by: 1 | -1) => void;
  readonly moveMatch: (by: 1 | -1) => void;
  readonly search: () => void;
  readonly tree: () => void;
  readonly closeTree: () => void;
  readonly theme: () => void;
  readonly toggleFolds: () => void;
  readonly toggleAllFolds: () => void;
}

/** The keys as the help names them. */
const HELP: readonly (readonly [keys: string, does: string])[] = [
  ["j  k", "next and previous entry"],
  ["o", "open or close the folds of the entry"],
  ["O", "open or close all folds"],
  ["/", "search"],
  ["n  p", "next and previous match (in the field: Enter, Shift+Enter)"],
  ["t", "to the tree; there arrows, Enter"],
  ["m", "light, dark, as the system"],
  ["?", "this help"],
  ["Esc", "leave the search, the tree or the help"],
];

/** Listens to keys. A person can switch letters off, so that they do not meet those of a screen reader or of speech input. */
export function startKeys(actions: KeyActions): void {
  const help = document.getElementById("help");
  const letters = document.getElementById("letters");
  if (!(help instanceof HTMLDialogElement) || !(letters instanceof HTMLInputElement)) return;
  for (const [keys, does] of HELP) {
    const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = keys;
    meaning.textContent = does;
    document.getElementById("keys")?.append(term, meaning);
  }
  document.getElementById("help-button")?.addEventListener("click", () => help.showModal());
  document.getElementById("help-close")?.addEventListener("click", () => help.close());
  const byKey: Readonly<Record<string, () => void>> = {
    j: () => actions.moveStep(1),
    k: () => actions.moveStep(-1),
    n: () => actions.moveMatch(1),
    p: () => actions.moveMatch(-1),
    o: actions.toggleFolds,
    O: actions.toggleAllFolds,
    t: actions.tree,
    m: actions.theme,
    "/": actions.search,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return actions.closeTree();
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target) || help.open || !letters.checked) return;
    const action = Object.hasOwn(byKey, event.key) ? byKey[event.key] : undefined;
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}
