import fc from "fast-check";

/** One thing that happens to a session. Numbers choose among the entries that are there, whatever their count. */
export type Step =
  | { readonly do: "append"; readonly kind: "u" | "a" | "k" | "m" | "h" | "s" | "n" | "d" }
  | { readonly do: "result" | "compact" | "omit" | "replace" | "tell" | "move"; readonly of: number }
  | { readonly do: "compactAll" | "start" | "undo" | "redo" };

const of = fc.nat(60);
const kinds = fc.constantFrom("u", "a", "k", "m", "h", "s", "n", "d" as const);

/** Steps of which most append, as in a conversation. */
export const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant("append" as const), kind: kinds }) },
    {
      weight: 9,
      arbitrary: fc.record({ do: fc.constantFrom("result", "compact", "omit", "replace", "tell", "move", "move" as const), of }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("compactAll", "start", "undo", "redo" as const) }) },
  ),
  { maxLength: 40, size: "max" },
) as fc.Arbitrary<readonly Step[]>;

/** A session in memory: what each entry hangs on, in order of arrival, where the leaf stands, and the words to plant. */
export class TreeModel {
  readonly parents = new Map<string, string | null>();
  leaf: string | null = null;
  readonly #offset: number;

  /** `offset` is added to the numbers in ids, for a session that has got entries from another one. */
  constructor(offset = 0) {
    this.#offset = offset;
  }

  path(leaf = this.leaf): readonly string[] {
    return leaf === null ? [] : [...this.path(this.parents.get(leaf) ?? null), leaf];
  }

  /** The word that a step plants, or undefined where it appends nothing. */
  take(step: Step): string | undefined {
    const path = this.path();
    const chosen = "of" in step ? path[step.of % Math.max(1, path.length)] : undefined;
    switch (step.do) {
      case "append":
        return this.#add(step.kind);
      case "compactAll":
        return this.#add("c");
      case "result":
        return this.#add("r", path.filter((id) => id.startsWith("k")).at(-(step.of % 3) - 1));
      case "compact":
        return this.#add("c", chosen);
      case "omit":
        return this.#add("x", chosen);
      case "replace":
        return this.#add("y", chosen);
      case "tell":
        return this.#add("b", [...this.parents.keys()][step.of % Math.max(1, this.parents.size)]);
      case "move":
        this.leaf = [...this.parents.keys()][step.of % Math.max(1, this.parents.size)] ?? null;
        return `@${this.leaf ?? ""}`;
      case "start":
        this.leaf = null;
        return "@";
      case "undo":
      case "redo":
        return step.do;
    }
  }

  #add(kind: string, about?: string): string | undefined {
    if ((kind === "x" || kind === "y" || kind === "r") && about === undefined) return undefined;
    const id = `${kind}${this.#offset + this.parents.size}`;
    this.parents.set(id, this.leaf);
    this.leaf = id;
    return about === undefined ? id : `${id}:${about}`;
  }
}
