import { callPreview } from "@bough/session-core";
import { type Line, safeLine } from "./blocks.js";
import { errorKey } from "./commands.js";
import { touchedFiles } from "./file-paths.js";
import { firstFirst, type Material, oldLines } from "./material.js";
import { lastRuns, lastSuccesses, movesFiles, type Outcome, type Story, type Turn, wentWrong } from "./timeline.js";

const UNFINISHED = "What was asked last was not finished at this point";

/** The request that has no answer yet, and what the agent's own list says is not done. */
export function openLines(material: Material): readonly Line[] {
  const { story, kind } = material;
  const last = story.turns.at(-1);
  const unanswered = kind !== "turn-prefix" && last !== undefined && last.request !== null && last.reply?.ends !== true;
  return firstFirst([...(unanswered ? [unfinished(last)] : []), ...todoTexts(material)], 6, 3);
}

function todoTexts(material: Material): readonly string[] {
  const { todos } = material.story;
  if (todos.length === 0) return oldLines(material, "open").filter((line) => !line.startsWith(UNFINISHED));
  const open = todos.filter(({ state }) => state !== "done").sort((a, b) => Number(b.state === "doing") - Number(a.state === "doing"));
  return open.map(({ text, state }) => safeLine(state === "doing" ? `${text} (being done)` : text, material.limits.lineChars));
}

function unfinished({ outcomes }: Turn): string {
  const call = outcomes.at(-1)?.call;
  return call === undefined || call === null ? UNFINISHED : `${UNFINISHED}; the last step was ${safeLine(callPreview(call), 80)}`;
}

/** What went wrong in the last turn and was not mended in it, the latest first; several commands that say the same are one line. */
export function blockedLines({ story, limits }: Material): readonly Line[] {
  const commands = new Map<string, string[]>();
  for (const { command, errors } of [...blockedOutcomes(story)].reverse()) {
    const why = errors.length === 0 ? "no reason was given" : errors.join(" / ");
    commands.set(why, [...(commands.get(why) ?? []), `\`${command}\``]);
  }
  const lines = [...commands].map(([why, failing]) => `${failing.join(", ")} ${failing.length === 1 ? "fails" : "fail"}: ${why}`);
  return firstFirst(
    lines.map((line) => safeLine(line, limits.lineChars * 2)),
    3,
    3,
  );
}

/** The last runs of commands of the last turn that went wrong. */
export function blockedOutcomes({ turns }: Story): ReadonlySet<Outcome> {
  return new Set([...lastRuns(turns.at(-1)?.outcomes ?? []).values()].filter(wentWrong));
}

const FIXED = "Fixed: ";
const OPEN = "Not seen fixed: ";
const OPEN_RANK = 16;
const FIXED_RANK = 20;
/** Names the command of an open error, in a line of an earlier extract. */
const OLD_OPEN = /^(?:Not seen fixed: )?(`([^`]+)`(?: fails)?: .*)$/;

/**
 * The errors that were met, each once, with what became of them: fixed, when the same command ran well later, else not seen
 * fixed. A failed edit of a file that was edited later says nothing any more. What stands under "Blocked" is left out here.
 */
export function errorsLines(material: Material): readonly Line[] {
  const wellAt = lastSuccesses(material.story.turns);
  const turns = material.story.turns.length;
  const old = carried(material, wellAt).map((text) => ({ text, age: turns }));
  const lines = new Map([...old, ...met(material, wellAt)].map((line) => [line.text, line]));
  // What is fixed matters less than what is not, and what nobody came back to for many turns less and less.
  return [...lines.values()].map(({ text, age }) => ({ text, rank: (text.startsWith(FIXED) ? FIXED_RANK : OPEN_RANK) + age / 3 }));
}

interface Met {
  readonly text: string;
  /** Turns since. */
  readonly age: number;
}

function met({ story, limits }: Material, wellAt: ReadonlyMap<string, number>): readonly Met[] {
  const blocked = blockedOutcomes(story);
  const found = new Map<string, Met>();
  for (const [at, { outcomes }] of story.turns.entries()) {
    for (const outcome of outcomes) {
      const line = outcome.errors[0];
      const fate = fateOf(outcome, wellAt);
      if (line === undefined || fate === null || blocked.has(outcome)) continue;
      const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
      // Again, so that it stands where it was met last.
      found.delete(errorKey(line));
      const text = safeLine(`${fate}${where}: ${line}`, Math.floor(limits.lineChars * 1.5));
      found.set(errorKey(line), { text, age: story.turns.length - 1 - at });
    }
  }
  return [...found.values()];
}

/** null: not worth a word. */
function fateOf(outcome: Outcome, wellAt: ReadonlyMap<string, number>): typeof FIXED | typeof OPEN | null {
  const { command, call, at } = outcome;
  if (!wentWrong(outcome) || (command !== null && movesFiles(command))) return null;
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
