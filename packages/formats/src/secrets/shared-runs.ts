// Which texts can have a secret that occurs in another text. A secret that is recognized in any text is at least 12 characters long and has no
// blank. Of such a run of characters, wherever it starts in a text, six characters start at a position that is a multiple of six.

const GRAM = 6;
/** The most characters of runs that are compared; for more, looking for the secrets takes no longer. */
const MOST_CHARS = 100_000;

/** Texts that can share a secret with some texts. */
export class SharedRuns {
  readonly #grams = new Set<string>();
  /** 1 where a gram may be, by a number of its characters. */
  readonly #starts = new Uint8Array(0x10000);
  #chars = 0;

  /** Adds the runs of a text that can be secrets, or have one inside. */
  add(text: string): void {
    for (const [run] of text.matchAll(/\S{12,}/g)) {
      if (!/\d/.test(run) || !/[a-z]/i.test(run)) continue;
      this.#chars += run.length;
      if (this.#chars > MOST_CHARS) return;
      for (let at = 0; at + GRAM <= run.length; at += 1) {
        this.#grams.add(run.slice(at, at + GRAM));
        this.#starts[startOf(run, at)] = 1;
      }
    }
  }

  /** True if a text can have a secret that is in one of the added texts. Cost: some 2 ms for each million characters. */
  canShare(text: string): boolean {
    if (this.#chars > MOST_CHARS) return true;
    for (let at = 0; at + GRAM <= text.length; at += GRAM)
      if (this.#starts[startOf(text, at)] === 1 && this.#grams.has(text.slice(at, at + GRAM))) return true;
    return false;
  }
}

function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 2) * 31 + text.charCodeAt(at + 5)) & 0xffff;
}
