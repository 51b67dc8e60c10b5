import { make } from "./dom.js";

/** Makes folds of the blocks in an element (../folds.ts). They look the same before. */
export function makeFolds(root: ParentNode): void {
  for (const block of root.querySelectorAll<HTMLElement>(".block")) makeFold(block);
}

/**
 * Makes folds of all blocks while the browser has nothing else to do: its own search opens folds, and finds nothing in closed blocks.
 * Returns a function that stops it.
 */
export function makeFoldsSoon(root: ParentNode): () => void {
  const blocks = [...root.querySelectorAll<HTMLElement>(".block")];
  let at = 0;
  let next = 0;
  const work = () => {
    const end = performance.now() + SLICE_MS;
    while (at < blocks.length && performance.now() < end) {
      const block = blocks[at];
      at += 1;
      if (block?.classList.contains("block") === true) makeFold(block);
    }
    if (at < blocks.length) next = setTimeout(work, PAUSE_MS);
  };
  next = setTimeout(work, PAUSE_MS);
  return () => clearTimeout(next);
}

/** A slice is shorter than a frame, and the pauses leave two thirds of the time. */
const [SLICE_MS, PAUSE_MS] = [6, 12];

function makeFold(block: HTMLElement): void {
  const [head] = block.children;
  const fold = make("details", "", "call");
  fold.open = block.classList.contains("open");
  const summary = make("summary");
  summary.append(...(head?.childNodes ?? []));
  head?.remove();
  fold.append(summary, ...block.childNodes);
  block.classList.remove("block");
  block.replaceWith(fold);
}
