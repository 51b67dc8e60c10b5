import { callPreview } from "@bough/session-core";
import { type Line, toSafeLine } from "./blocks.js";
import { normalizeErrorLine } from "./commands.js";
import { touchedFiles } from "./file-paths.js";
import { type ExtractMaterial, getPreviousLines, rankInOrder } from "./material.js";
import { type CallOutcome, findLastRuns, findLastSuccesses, hasFailed, isFileMove, type Timeline, type Turn } from "./timeline.js";

const UNFINISHED = "What was asked last was not finished at this point";

/** The request without an answer, and the open items of the agent's todo list. */
export function listOpenWork(material: ExtractMaterial): readonly Line[] {
  const { timeline, kind } = material;
  const last = timeline.turns.at(-1);
  const unanswered = kind !== "turn-prefix" && last !== undefined && last.request !== null && last.reply?.ends !== true;
  return rankInOrder([...(unanswered ? [describeUnfinished(last)] : []), ...listTodos(material)], 6, 3);
}

function listTodos(material: ExtractMaterial): readonly string[] {
  const { todos } = material.timeline;
  if (todos.length === 0) return getPreviousLines(material, "open").filter((line) => !line.startsWith(UNFINISHED));
  const open = todos.filter(({ state }) => state !== "done").sort((a, b) => Number(b.state === "doing") - Number(a.state === "doing"));
  return open.map(({ text, state }) => toSafeLine(state === "doing" ? `${text} (being done)` : text, material.limits.lineChars));
}

function describeUnfinished({ outcomes }: Turn): string {
  const call = outcomes.at(-1)?.call;
  return call === undefined || call === null ? UNFINISHED : `${UNFINISHED}; the last step was ${toSafeLine(callPreview(call), 80)}`;
}

/** What failed in the last turn and was not fixed in it, the latest first. Commands with the same error share a line. */
export function listBlocked({ timeline, limits }: ExtractMaterial): readonly Line[] {
  const commands = new Map<string, string[]>();
  for (const { command, errors } of [...findBlockedOutcomes(timeline)].reverse()) {
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

/** The failed last runs of commands in the last turn. */
function findBlockedOutcomes({ turns }: Timeline): ReadonlySet<CallOutcome> {
  return new Set([...findLastRuns(turns.at(-1)?.outcomes ?? []).values()].filter(hasFailed));
}

const FIXED = "Fixed: ";
const OPEN = "Not seen fixed: ";
const OPEN_RANK = 16;
const FIXED_RANK = 20;
/** The command of an open error, in a line of a previous extract. */
const OLD_OPEN = /^(?:Not seen fixed: )?(`([^`]+)`(?: fails)?: .*)$/;

/**
 * The errors, each once: fixed if the same command succeeded later, else not seen fixed. A failed edit is omitted if the
 * file was edited later, and so are errors listed under "Blocked".
 */
export function listErrors(material: ExtractMaterial): readonly Line[] {
  const wellAt = findLastSuccesses(material.timeline.turns);
  const turns = material.timeline.turns.length;
  const old = updatePreviousErrors(material, wellAt).map((text) => ({ text, age: turns }));
  const lines = new Map([...old, ...listMetErrors(material, wellAt)].map((line) => [line.text, line]));
  // Fixed errors are less important than open ones, and old ones less than new ones.
  return [...lines.values()].map(({ text, age }) => ({ text, rank: (text.startsWith(FIXED) ? FIXED_RANK : OPEN_RANK) + age / 3 }));
}

interface MetError {
  readonly text: string;
  /** In turns. */
  readonly age: number;
}

function listMetErrors({ timeline, limits }: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly MetError[] {
  const blocked = findBlockedOutcomes(timeline);
  const found = new Map<string, MetError>();
  for (const [at, { outcomes }] of timeline.turns.entries()) {
    for (const outcome of outcomes) {
      const line = outcome.errors[0];
      const fate = decideFate(outcome, wellAt);
      if (line === undefined || fate === null || blocked.has(outcome)) continue;
      const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
      // Deleted first, so that the order is that of the last occurrence.
      found.delete(normalizeErrorLine(line));
      const text = toSafeLine(`${fate}${where}: ${line}`, Math.floor(limits.lineChars * 1.5));
      found.set(normalizeErrorLine(line), { text, age: timeline.turns.length - 1 - at });
    }
  }
  return [...found.values()];
}

/** null: omitted. */
function decideFate(outcome: CallOutcome, wellAt: ReadonlyMap<string, number>): typeof FIXED | typeof OPEN | null {
  const { command, call, at } = outcome;
  if (!hasFailed(outcome) || (command !== null && isFileMove(command))) return null;
  if (command !== null) return (wellAt.get(command) ?? -1) > at ? FIXED : OPEN;
  const files = call === null ? [] : touchedFiles(call);
  return files.length === 0 || files.some(({ path }) => (wellAt.get(path) ?? -1) > at) ? null : OPEN;
}

/** Marks the open errors of the previous extract as fixed if their command succeeded since. */
function updatePreviousErrors(material: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly string[] {
  const known = [...getPreviousLines(material, "errors"), ...getPreviousLines(material, "blocked")];
  return known.map((line) => {
    const [, what = "", command = ""] = OLD_OPEN.exec(line) ?? [];
    if (what === "") return line;
    return (wellAt.has(command) ? FIXED : OPEN) + what.replace("` fails: ", "`: ");
  });
}
