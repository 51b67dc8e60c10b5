import { errorKey } from "../../../facts/kinds/error-lines.js";
import { touchedFiles } from "../../../facts/kinds/file-paths.js";
import { type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine } from "../safe-line.js";
import type { Outcome, Turn } from "../story.js";

/** What became of an error. */
type Fate = "fixed" | "open";

/**
 * The errors that were met, each once, with what became of them: fixed, when the same command ran well later, else open. A
 * failed edit of a file that was edited later says nothing any more. What stands under "Blocked" is left out here.
 */
export function errorsLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const wellAt = lastSuccess(story.turns);
  const blocked = new Set(story.turns.at(-1)?.outcomes ?? []);
  const found = new Map<string, { readonly fate: Fate; readonly text: string }>();
  for (const outcome of story.turns.flatMap(({ outcomes }) => outcomes)) {
    const fate = fateOf(outcome, wellAt);
    const line = outcome.errors[0];
    if (line === undefined || fate === null || (fate === "open" && outcome.failed && blocked.has(outcome))) continue;
    const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
    // Again, so that it stands where it was met last.
    found.delete(errorKey(line));
    found.set(errorKey(line), { fate, text: `${where}: ${line}` });
  }
  const named = [...found.values()].map(({ fate, text }) =>
    safeLine(`${fate === "fixed" ? "Fixed" : "Open"}: ${text}`, limits.lineChars * 1.5),
  );
  return newestFirst([...oldLines(material, "errors").map(aged), ...named], 24, 7).map(fixedLater);
}

/** What was open when an earlier extract was made is open as far as anybody knows; nobody has looked again. */
function aged(line: string): string {
  return line.replace(/^Open: /, "Open earlier: ");
}

function fixedLater({ text, rank }: Line): Line {
  return { text, rank: text.startsWith("Fixed") ? rank + 20 : rank };
}

/** null: not worth a word. */
function fateOf({ command, call, failed, at }: Outcome, wellAt: ReadonlyMap<string, number>): Fate | null {
  if (command !== null) {
    if ((wellAt.get(command) ?? -1) > at) return "fixed";
    return failed ? "open" : null;
  }
  const files = call === null ? [] : touchedFiles(call);
  if (!failed || files.length === 0 || files.some(({ path }) => (wellAt.get(path) ?? -1) > at)) return null;
  return "open";
}

/** When a command last ran well, and a file was last touched without an error. */
function lastSuccess(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const well = new Map<string, number>();
  for (const { command, call, failed, at, errors } of turns.flatMap(({ outcomes }) => outcomes)) {
    if (failed) continue;
    if (command !== null && errors.length === 0) well.set(command, at);
    if (call !== null) for (const { path } of touchedFiles(call)) well.set(path, at);
  }
  return well;
}
