import type { SearchMatch } from "@bough/session-core";

/**
 * Runs one piece of work at a time. Of the inputs that arrive while one runs, only the newest is kept, and `isWanted` of the running
 * work returns false. A search therefore needs no timer between keys: each key starts a query at once if none runs.
 */
export class NewestOnly<Input> {
  readonly #work: (input: Input, isWanted: () => boolean) => Promise<void>;
  #next: { readonly input: Input } | undefined;
  #isRunning = false;
  #isOver = false;

  /** `work` must not reject. It must check `isWanted` between its steps, and end early if that returns false. */
  constructor(work: (input: Input, isWanted: () => boolean) => Promise<void>) {
    this.#work = work;
  }

  /** Runs the work with this input, after the running one has ended. */
  start(input: Input): void {
    if (this.#isOver) return;
    this.#next = { input };
    if (!this.#isRunning) void this.#runAll();
  }

  /** Drops the waiting input. From then on `isWanted` of the running work returns false. */
  end(): void {
    this.#isOver = true;
    this.#next = undefined;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#next !== undefined) {
      // Keys that arrived together are handled before the first query of them starts.
      await new Promise(setImmediate);
      const next: { readonly input: Input } | undefined = this.#next;
      if (next === undefined) break;
      this.#next = undefined;
      await this.#work(next.input, () => this.#next === undefined && !this.#isOver);
    }
    this.#isRunning = false;
  }
}

/** A text of more words is a question. */
const FEW_WORDS = 3;

/**
 * The query for a text that is still being typed: its last word may be the start of one where a search finds only whole words. A question is
 * searched as it is: its other words find enough until the last one is complete.
 */
export function unfinishedQuery(typed: string): string {
  const last = /(?:^|\s)([\p{L}\p{N}]+)$/u.exec(typed)?.[1] ?? "";
  const isInPhrase = (typed.split('"').length - 1) % 2 === 1;
  const isQuestion = typed.trim().split(/\s+/).length > FEW_WORDS;
  return last.length === 1 && !isQuestion && !isInPhrase ? `${typed}*` : typed;
}

/** Describes how hits differ from the query; empty if they have all its words. */
export function describeMatched(matched: SearchMatch): string {
  if (matched.kind === "all") return "";
  if (matched.kind === "words") return ", other characters between the words";
  if (matched.kind === "ranked") return ", best first";
  return matched.kind === "spelling" ? `, spelled ${matched.found.join(", ")}` : `, with ${matched.words} of ${matched.of} words`;
}
