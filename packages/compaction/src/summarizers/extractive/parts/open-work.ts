import { callPreview } from "@bough/session-core";
import { firstFirst, type Material } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine } from "../safe-line.js";
import type { Turn } from "../story.js";
import { lastRuns } from "./work.js";

/** What an agent's own list says is not done, and the request that has no answer yet. */
export function openLines({ story, kind, limits }: Material): readonly Line[] {
  const todos = story.todos.filter(({ state }) => state !== "done");
  const doing = todos.sort((a, b) => Number(b.state === "doing") - Number(a.state === "doing"));
  const lines = doing.map(({ text, state }) => safeLine(state === "doing" ? `${text} (being done)` : text, limits.lineChars));
  const last = story.turns.at(-1);
  const unanswered = kind !== "turn-prefix" && last !== undefined && last.request !== null && last.reply?.ends !== true;
  return firstFirst([...(unanswered ? [unfinished(last)] : []), ...lines], 6, 3);
}

function unfinished({ outcomes }: Turn): string {
  const call = outcomes.at(-1)?.call;
  const after = call === undefined || call === null ? "" : `; the last step was ${safeLine(callPreview(call), 80)}`;
  return `What was asked last is not finished${after}`;
}

/** Commands that failed in the last turn and were not mended in it. */
export function blockedLines({ story, limits }: Material): readonly Line[] {
  const last = story.turns.at(-1);
  if (last === undefined) return [];
  const failed = [...lastRuns([last])].filter(([, { failed: fails }]) => fails);
  const lines = failed.map(([command, { errors }]) =>
    safeLine(`\`${command}\` fails: ${errors[0] ?? "no reason was given"}`, limits.lineChars * 2),
  );
  return firstFirst(lines.reverse(), 7, 4);
}
