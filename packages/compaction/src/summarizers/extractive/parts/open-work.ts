import { callPreview } from "@bough/session-core";
import { firstFirst, type Material, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { lastRuns, wentWrong } from "../runs.js";
import { safeLine } from "../safe-line.js";
import type { Outcome, Story, Turn } from "../story.js";

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
