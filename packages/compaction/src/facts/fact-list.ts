import { FACT_KINDS, FACT_LIMITS, type Fact, type FactKind } from "./fact.js";

interface Found {
  readonly text: string;
  at: number;
  strength: number;
}

/** Facts as they are found: each once, and in the end the strongest of each kind. */
export class FactList {
  readonly #found = new Map<FactKind, Map<string, Found>>(FACT_KINDS.map((kind) => [kind, new Map()]));

  /** `key`: what makes it the same as another of its kind. `strength`: adds up; more is more important. */
  add(kind: FactKind, text: string, at: number, { key = text, strength = 1 }: { key?: string; strength?: number } = {}): void {
    const all = this.#found.get(kind);
    const known = all?.get(key);
    if (known === undefined) all?.set(key, { text, at, strength });
    else {
      known.at = Math.max(known.at, at);
      known.strength += strength;
    }
  }

  /** By kind, the most important first; in a kind the strongest first, of equals the newest. */
  strongest(): readonly Fact[] {
    return FACT_KINDS.flatMap((kind) => {
      const all = [...(this.#found.get(kind)?.values() ?? [])];
      const found = kind === "file" ? oneNamePerFile(all) : all;
      return found
        .sort((a, b) => b.strength - a.strength || b.at - a.at)
        .slice(0, FACT_LIMITS[kind])
        .map(({ text, at }) => ({ kind, text, at }));
    });
  }
}

/**
 * A file that is named by its whole path, from its project and by its name alone is one file, under the name from its
 * project; a name alone that several paths end in is none. Cost grows with the parts of all paths.
 */
function oneNamePerFile(found: readonly Found[]): Found[] {
  const paths = new Map(found.map((one) => [one.text, one]));
  const longer = new Map<string, string | null>();
  for (const path of paths.keys()) {
    for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) {
      const end = path.slice(at + 1);
      longer.set(end, longer.has(end) && longer.get(end) !== path ? null : path);
    }
  }
  for (const [path, one] of [...paths].sort(([a], [b]) => a.length - b.length)) {
    const whole = longer.get(path);
    if (whole === undefined) continue;
    paths.delete(path);
    const other = whole === null ? undefined : paths.get(whole);
    if (whole === null || other === undefined) {
      // Two files end so, and from here nobody can tell which is meant; a path with folders stays one of its own.
      if (path.includes("/")) paths.set(path, one);
      continue;
    }
    paths.delete(whole);
    const text = path.includes("/") ? path : whole;
    paths.set(text, { text, at: Math.max(one.at, other.at), strength: one.strength + other.strength });
  }
  return [...paths.values()];
}
