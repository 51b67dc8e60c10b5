/** A fact on its way: its text, the newest message that says it, and how much it matters so far. */
export interface Found {
  readonly text: string;
  readonly at: number;
  readonly strength: number;
}

/** Two finds of one fact, under the text of the first. */
export function joined(a: Found, b: Found): Found {
  return { text: a.text, at: Math.max(a.at, b.at), strength: a.strength + b.strength };
}

/**
 * A file that is named by its whole path and from its project is one file, under the name from its project. A name alone is
 * the file whose path ends in it, and none where several do. Cost grows with the parts of all paths.
 */
export function oneNamePerFile(found: readonly Found[]): readonly Found[] {
  const files = new Map(found.map((one) => [one.text, one]));
  const longer = pathsByEnding(files.keys());
  for (const one of [...found].sort((a, b) => b.text.length - a.text.length)) {
    const path = longer.get(one.text);
    if (path === undefined) continue;
    const whole = path === null ? undefined : files.get(path);
    if (whole !== undefined) joinInto(files, one, whole);
    else if (!one.text.includes("/")) files.delete(one.text);
  }
  return [...files.values()];
}

function joinInto(files: Map<string, Found>, short: Found, whole: Found): void {
  const kept = short.text.includes("/") ? short : whole;
  files.delete(short.text);
  files.delete(whole.text);
  files.set(kept.text, joined(kept, kept === short ? whole : short));
}

/** Which longer path ends in a shorter one; null: several do. */
function pathsByEnding(paths: Iterable<string>): ReadonlyMap<string, string | null> {
  const longer = new Map<string, string | null>();
  for (const path of paths) {
    for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) {
      const end = path.slice(at + 1);
      longer.set(end, longer.has(end) ? null : path);
    }
  }
  return longer;
}
