/** Shorter runs are words, hashes or paths; a line of base64 has 60, 64 or 76 characters. */
const RUN = /[A-Za-z0-9+/_=-]{40,}/g;
/** No word or path is that long without a dot or a space. */
const SURELY_DATA = 200;
/**
 * In data a character is seldom of the class (upper, lower, digit) of the one before it: base64 changes at 62 % of its
 * places, hexadecimal at 47 %, a path in camel case at no more than 30 %.
 */
const CHANGES = 0.35;
const ALL_DATA = /^\s*[A-Za-z0-9+/_-]+=*\s*$/;

/**
 * A text without base64, hexadecimal dumps and their like, each run of which becomes one "…": nothing is to be found in
 * them. The short last line of a block goes with it. Linear.
 */
export function withoutData(text: string): string {
  if (text.search(RUN) === -1) return text;
  let inBlock = false;
  const lines = text.split("\n").map((line) => {
    const kept = line.replace(RUN, (run) => (isData(run) ? "…" : run));
    const tail = inBlock && ALL_DATA.test(line);
    inBlock = kept !== line && ALL_DATA.test(line);
    return tail ? "…" : kept;
  });
  return lines.join("\n");
}

function isData(run: string): boolean {
  if (run.length >= SURELY_DATA) return true;
  let changes = 0;
  for (let at = 1; at < run.length; at += 1) {
    if (classOf(run.charCodeAt(at)) !== classOf(run.charCodeAt(at - 1))) changes += 1;
  }
  return changes / run.length > CHANGES;
}

function classOf(unit: number): number {
  if (unit >= 0x61) return 0;
  if (unit >= 0x41) return 1;
  return unit >= 0x30 ? 2 : 3;
}
