import { errorKey } from "../../../facts/kinds/error-lines.js";
import { touchedFiles } from "../../../facts/kinds/file-paths.js";
import { type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { lastSuccesses, wentWrong } from "../runs.js";
import { safeLine } from "../safe-line.js";
import type { Outcome } from "../story.js";
import { blockedOutcomes } from "./open-work.js";

const FIXED = "Fixed: ";
const OPEN = "Not seen fixed: ";
/** Names the command of an open error, in a line of an earlier extract. */
const OLD_OPEN = /^(?:Not seen fixed: )?(`([^`]+)`(?: fails)?: .*)$/;

/**
 * The errors that were met, each once, with what became of them: fixed, when the same command ran well later, else not seen
 * fixed. A failed edit of a file that was edited later says nothing any more. What stands under "Blocked" is left out here.
 */
export function errorsLines(material: Material): readonly Line[] {
  const wellAt = lastSuccesses(material.story.turns);
  const texts = [...carried(material, wellAt), ...met(material, wellAt)];
  // What is fixed matters less than what is not.
  return newestFirst(texts, 24, 7).map(({ text, rank }) => ({ text, rank: text.startsWith(FIXED) ? rank + 20 : rank }));
}

function met({ story, limits }: Material, wellAt: ReadonlyMap<string, number>): readonly string[] {
  const blocked = blockedOutcomes(story);
  const found = new Map<string, string>();
  for (const outcome of story.turns.flatMap(({ outcomes }) => outcomes)) {
    const line = outcome.errors[0];
    const fate = fateOf(outcome, wellAt);
    if (line === undefined || fate === null || blocked.has(outcome)) continue;
    const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
    // Again, so that it stands where it was met last.
    found.delete(errorKey(line));
    found.set(errorKey(line), safeLine(`${fate}${where}: ${line}`, Math.floor(limits.lineChars * 1.5)));
  }
  return [...found.values()];
}

/** null: not worth a word. */
function fateOf(outcome: Outcome, wellAt: ReadonlyMap<string, number>): typeof FIXED | typeof OPEN | null {
  const { command, call, at } = outcome;
  if (!wentWrong(outcome)) return null;
  if (command !== null) return (wellAt.get(command) ?? -1) > at ? FIXED : OPEN;
  const files = call === null ? [] : touchedFiles(call);
  return files.length === 0 || files.some(({ path }) => (wellAt.get(path) ?? -1) > at) ? null : OPEN;
}

/** What an earlier extract left open is fixed when its command ran well since. */
function carried(material: Material, wellAt: ReadonlyMap<string, number>): readonly string[] {
  const known = [...oldLines(material, "errors"), ...oldLines(material, "blocked")];
  return known.map((line) => {
    const [, what = "", command = ""] = OLD_OPEN.exec(line) ?? [];
    if (what === "") return line;
    return (wellAt.has(command) ? FIXED : OPEN) + what.replace("` fails: ", "`: ");
  });
}
