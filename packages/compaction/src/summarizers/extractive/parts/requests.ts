import { proseOf } from "../../../facts/text/prose.js";
import { sentencesOf } from "../../../facts/text/sentences.js";
import { firstFirst, type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine, safeLines } from "../safe-line.js";
import type { Request } from "../story.js";

/** A shorter request is an answer to something, which is said with it. In characters. */
const SHORT = 40;
const QUOTE_LINES = 8;

/** What was asked first; never lost, however often it is carried on. */
export function goalLines(material: Material): readonly Line[] {
  const carried = oldLines(material, "goal");
  // What a model wrote stands before what was extracted later.
  const lines = carried.length > 0 && material.goal === null ? carried : firstGoal(material);
  return lines.map((text, at) => ({ text, rank: at === 0 ? 0 : 3 + at }));
}

function firstGoal(material: Material): readonly string[] {
  const { goal, limits } = material;
  const maxChars = limits.goalChars;
  return goal === null ? quoted(requestsOf(material)[0], maxChars) : safeLines(goal, { maxLines: QUOTE_LINES, maxChars });
}

/** What was asked between the first request and the last, one line each. */
export function laterLines(material: Material): readonly Line[] {
  const requests = requestsOf(material);
  // Where the goal is known from before, the first request of these messages is a later one.
  const between = requests.slice(hasEarlier(material) ? 0 : 1, -1);
  const goalOfOld = material.goal === null ? [] : oldLines(material, "goal").slice(0, 1);
  const lastOfOld = requests.length === 0 ? [] : oldLines(material, "latest").slice(0, 1);
  const lines = between.map(({ text }) => oneLineOf(text, material.limits.lineChars));
  return newestFirst([...goalOfOld, ...oldLines(material, "requests"), ...lastOfOld, ...lines], 26, 3);
}

/** What was asked last, as much of it as there is room for; nothing where that is the goal. */
export function latestLines(material: Material): readonly Line[] {
  const requests = requestsOf(material);
  const last = requests.at(-1);
  if (last === undefined) return firstFirst(oldLines(material, "latest"), 1, 3);
  if (requests.length === 1 && !hasEarlier(material)) return [];
  const lines = quoted(last, material.limits.latestChars);
  const answers = last.text.trim().length < SHORT ? whatItAnswers(material) : null;
  return [...lines, ...(answers === null ? [] : [answers])].map((text, at) => ({ text, rank: at === 0 ? 1 : 4 + at }));
}

function requestsOf({ story }: Material): readonly Request[] {
  return story.turns.flatMap(({ request }) => (request === null ? [] : [request]));
}

function hasEarlier({ old, goal }: Material): boolean {
  return old !== null || goal !== null;
}

function quoted(request: Request | undefined, maxChars: number): readonly string[] {
  return request === undefined ? [] : safeLines(spoken(request.text), { maxLines: QUOTE_LINES, maxChars });
}

function oneLineOf(text: string, maxChars: number): string {
  return safeLine(spoken(text), maxChars);
}

/** Without code blocks, unless there is nothing else. */
function spoken(text: string): string {
  const prose = proseOf(text).trim();
  return prose === "" ? text : prose;
}

/** The end of what the model had said when the last request came. */
function whatItAnswers({ story, limits }: Material): string | null {
  const before = story.turns.at(-2)?.reply?.text;
  const last = before === undefined ? undefined : sentencesOf(proseOf(before)).at(-1)?.text;
  return last === undefined ? null : safeLine(`(in answer to: ${last})`, limits.lineChars);
}
