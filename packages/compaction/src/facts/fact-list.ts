import { FACT_KINDS, FACT_LIMITS, type Fact, type FactKind } from "./fact.js";
import { type Found, joined, oneNamePerFile } from "./one-name-per-file.js";

/** Facts as they are found: each once, and in the end the strongest of each kind. */
export class FactList {
  readonly #found = new Map<FactKind, Map<string, Found>>(FACT_KINDS.map((kind) => [kind, new Map()]));

  /** Nothing where the text is empty. `key`: what makes it the same as another of its kind. `strength`: adds up; more is more important. */
  add(kind: FactKind, text: string, at: number, { key = text, strength = 1 }: { key?: string; strength?: number } = {}): void {
    if (text === "") return;
    const all = this.#found.get(kind);
    const known = all?.get(key);
    if (known === undefined) all?.set(key, { text, at, strength });
    else all?.set(key, joined(known, { text, at, strength }));
  }

  /** By kind, the most important first; in a kind the strongest first, of equals the newest. */
  strongest(): readonly Fact[] {
    return FACT_KINDS.flatMap((kind) => {
      const all = [...(this.#found.get(kind)?.values() ?? [])];
      const found = kind === "file" ? oneNamePerFile(all) : all;
      return [...found]
        .sort((a, b) => b.strength - a.strength || b.at - a.at)
        .slice(0, FACT_LIMITS[kind])
        .map(({ text, at }) => ({ kind, text, at }));
    });
  }
}
