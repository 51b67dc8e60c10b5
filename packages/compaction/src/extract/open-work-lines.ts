import { callPreview } from "@bough/session-core";
import { type Line, toSafeLine } from "./blocks.js";
import { normalizeErrorLine } from "./commands.js";
import { touchedFiles } from "./file-paths.js";
import { type ExtractMaterial, getPreviousLines, rankInOrder } from "./material.js";
import { type CallOutcome, findLastRuns, findLastSuccesses, hasFailed, isFileMove, type Timeline, type Turn } from "./timeline.js";

const UNFINISHED = "What was asked last was not finished at this point";

/** The request that has no answer yet, and what the agent's own list says is not done. */
export function listOpenWork(material: ExtractMaterial): readonly Line[] {
  const { story, kind } = material;
  const last = story.turns.at(-1);
  const unanswered = kind !== "turn-prefix" && last !== undefined && last.request !== null && last.reply?.ends !== true;
  return rankInOrder([...(unanswered ? [describeUnfinished(last)] : []), ...listTodos(material)], 6, 3);
}

function listTodos(material: ExtractMaterial): readonly string[] {
  const { todos } = material.story;
  if (todos.length === 0) return getPreviousLines(material, "open").filter((line) => !line.startsWith(UNFINISHED));
  const open = todos.filter(({ state }) => state !== "done").sort((a, b) => Number(b.state === "doing") - Number(a.state === "doing"));
  return open.map(({ text, state }) => toSafeLine(state === "doing" ? `${text} (being done)` : text, material.limits.lineChars));
}

function describeUnfinished({ outcomes }: Turn): string {
  const call = outcomes.at(-1)?.call;
  return call === undefined || call === null ? UNFINISHED : `${UNFINISHED}; the last step was ${toSafeLine(callPreview(call), 80)}`;
}

/** What went wrong in the last turn and was not mended in it, the latest first; several commands that say the same are one line. */
export function listBlocked({ story, limits }: ExtractMaterial): readonly Line[] {
  const commands = new Map<string, string[]>();
  for (const { command, errors } of [...findBlockedOutcomes(story)].reverse()) {
    const why = errors.length === 0 ? "no reason was given" : errors.join(" / ");
    commands.set(why, [...(commands.get(why) ?? []), `\`${command}\``]);
  }
  const lines = [...commands].map(([why, failing]) => `${failing.join(", ")} ${failing.length === 1 ? "fails" : "fail"}: ${why}`);
  return rankInOrder(
    lines.map((line) => toSafeLine(line, limits.lineChars * 2)),
    3,
    3,
  );
}

/** The last runs of commands of the last turn that went wrong. */
function findBlockedOutcomes({ turns }: Timeline): ReadonlySet<CallOutcome> {
  return new Set([...findLastRuns(turns.at(-1)?.outcomes ?? []).values()].filter(hasFailed));
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
export function listErrors(material: ExtractMaterial): readonly Line[] {
  const wellAt = findLastSuccesses(material.story.turns);
  const turns = material.story.turns.length;
  const old = updatePreviousErrors(material, wellAt).map((text) => ({ text, age: turns }));
  const lines = new Map([...old, ...listMetErrors(material, wellAt)].map((line) => [line.text, line]));
  // What is fixed matters less than what is not, and what nobody came back to for many turns less and less.
  return [...lines.values()].map(({ text, age }) => ({ text, rank: (text.startsWith(FIXED) ? FIXED_RANK : OPEN_RANK) + age / 3 }));
}

interface MetError {
  readonly text: string;
  /** Turns since. */
  readonly age: number;
}

function listMetErrors({ story, limits }: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly MetError[] {
  const blocked = findBlockedOutcomes(story);
  const found = new Map<string, MetError>();
  for (const [at, { outcomes }] of story.turns.entries()) {
    for (const outcome of outcomes) {
      const line = outcome.errors[0];
      const fate = decideFate(outcome, wellAt);
      if (line === undefined || fate === null || blocked.has(outcome)) continue;
      const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
      // Again, so that it stands where it was met last.
      found.delete(normalizeErrorLine(line));
      const text = toSafeLine(`${fate}${where}: ${line}`, Math.floor(limits.lineChars * 1.5));
      found.set(normalizeErrorLine(line), { text, age: story.turns.length - 1 - at });
    }
  }
  return [...found.values()];
}

/** null: not worth a word. */
function decideFate(outcome: CallOutcome, wellAt: ReadonlyMap<string, number>): typeof FIXED | typeof OPEN | null {
  const { command, call, at } = outcome;
  if (!hasFailed(outcome) || (command !== null && isFileMove(command))) return null;
  if (command !== null) return (wellAt.get(command) ?? -1) > at ? FIXED : OPEN;
  const files = call === null ? [] : touchedFiles(call);
  return files.length === 0 || files.some(({ path }) => (wellAt.get(path) ?? -1) > at) ? null : OPEN;
}

/** What an earlier extract left open is fixed when its command ran well since. */
function updatePreviousErrors(material: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly string[] {
  const known = [...getPreviousLines(material, "errors"), ...getPreviousLines(material, "blocked")];
  return known.map((line) => {
    const [, what = "", command = ""] = OLD_OPEN.exec(line) ?? [];
    if (what === "") return line;
    return (wellAt.has(command) ? FIXED : OPEN) + what.replace("` fails: ", "`: ");
  });
}
