const OPEN = /\s*<(think|thinking|thought|reasoning)>/iy;
/** Chat templates of DeepSeek and Qwen put the opening tag into the prompt, so only the closing one is in the reply. */
const CLOSE_ALONE = /^[ \t]*<\/(?:think|thinking)>[ \t]*$/im;

/**
 * A reply without the thoughts at its start: leading `<think>` blocks, and what stands before a `</think>` on a line of its
 * own. A block that never ends is all thought. The tags inside the text that follows are text. Linear.
 */
export function stripThinking(text: string): string {
  let start = 0;
  for (let open = openAt(text, 0); open !== null; open = openAt(text, start)) {
    const end = endOfThought(text, open);
    if (end === -1) return "";
    start = end;
  }
  if (start > 0) return text.slice(start).trimStart();
  const close = CLOSE_ALONE.exec(text);
  // With an opening tag before it, it is a quotation.
  return close === null || /<think/i.test(text.slice(0, close.index)) ? text : text.slice(close.index + close[0].length).trimStart();
}

/** An opening tag at the start of what follows `from`. */
function openAt(text: string, from: number): { readonly after: number; readonly close: RegExp } | null {
  OPEN.lastIndex = from;
  const open = OPEN.exec(text);
  return open === null ? null : { after: OPEN.lastIndex, close: new RegExp(`</${open[1]}>`, "gi") };
}

function endOfThought(text: string, { after, close }: { readonly after: number; readonly close: RegExp }): number {
  close.lastIndex = after;
  return close.exec(text) === null ? -1 : close.lastIndex;
}

/** Longer than any closing tag: so much of a thought is kept that a tag which the next piece completes is found. */
const LONGEST_TAG = 32;

/**
 * Passes the pieces of a reply on as they come, without the thought at its start. For progress only: the summary itself is
 * judged as a whole. Cost of a piece grows with the piece, not with what came before it.
 */
export function withoutThinking(onText: (piece: string) => void): (piece: string) => void {
  let held = "";
  let close: RegExp | null = null;
  let speaks = false;
  const speak = (text: string): void => {
    speaks = true;
    if (text !== "") onText(text);
  };
  return (piece) => {
    if (speaks) return onText(piece);
    held += piece;
    const open = close === null ? openAt(held, 0) : { after: 0, close };
    if (open === null) return mayBecomeThought(held) ? undefined : speak(held);
    close = open.close;
    const end = endOfThought(held, open);
    if (end !== -1) return speak(held.slice(end).trimStart());
    held = held.slice(open.after).slice(-LONGEST_TAG);
  };
}

function mayBecomeThought(held: string): boolean {
  const start = held.trimStart();
  return start === "" || (start.startsWith("<") && start.length < LONGEST_TAG && !start.includes(">"));
}
