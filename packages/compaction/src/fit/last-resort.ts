import type { ContextMessage } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cutMessage } from "./cut-message.js";
import { type Group, layoutOf, promptPlace } from "./layout.js";
import {
  type Change,
  type Counted,
  type CountMessage,
  partsWhere,
  partsWith,
  type Removal,
  type RequestParts,
  type Room,
  type Shaping,
  savedBy,
  tokensIn,
  unchanged,
} from "./request-parts.js";

/** What is there to decide by. */
export interface LastResortInput {
  readonly room: Room;
  readonly settings: CompactionSettings["request"];
  readonly count: CountMessage;
}

/**
 * Makes a request fit from which everything that is old is gone already: the prompt and what hangs on it are larger than
 * the window. The first of these that fits, else the smallest:
 *
 * 1. tool results (and output of commands, and what a host put in) share the room that is left;
 * 2. the same without summaries;
 * 3. the newest prompt alone, or the newest reply where nobody said anything;
 * 4. only where even the prompt alone does not fit: the same three, with the prompt among what is cut. Not where the host
 *    wants an error instead (`failWhenTooLarge`).
 *
 * Linear: six attempts at most.
 */
export function lastResort(parts: RequestParts, { room, settings, count }: LastResortInput): Shaping {
  let last = unchanged(parts);
  for (const cutsPrompt of settings.failWhenTooLarge ? [false] : [false, true]) {
    for (const left of [unchanged, withoutSummaries, promptOnly]) {
      const removed = left(parts);
      const cut = shareRoom(removed.parts, { room, headShare: settings.toolResultHeadShare, cutsPrompt, count });
      last = { parts: cut.parts, changes: [...removed.changes, ...cut.changes] };
      if (tokensIn(last.parts) <= room.limitTokens) return last;
    }
  }
  return last;
}

function withoutSummaries(parts: RequestParts): Shaping {
  const { old, turn } = layoutOf(parts.messages, []);
  const summaries = [...old, ...turn].filter(({ kind }) => kind === "summary");
  return without(parts, summaries, "summaries");
}

function promptOnly(parts: RequestParts): Shaping {
  const { old, prompt, turn } = layoutOf(parts.messages, []);
  const stays = prompt ?? turn.at(-1);
  const rest = [...old, ...turn].filter((group) => group !== stays);
  return without(parts, rest, "turn");
}

function without(parts: RequestParts, groups: readonly Group[], pass: Removal): Shaping {
  if (groups.length === 0) return unchanged(parts);
  const gone = new Set<number>();
  for (const { start, end } of groups) for (let at = start; at < end; at += 1) gone.add(at);
  const left = partsWhere(parts, (at) => !gone.has(at));
  const tokens = tokensIn(parts) - tokensIn(left);
  const change: Change = { kind: "removed-messages", pass, messages: gone.size, tokens };
  return { parts: left, changes: [change] };
}

// A result of fewer tokens tells a model nothing; then something else must go.
const LEAST_TOKENS = 64;
// Of a prompt, beginning and end say as much.
const PROMPT_HEAD_SHARE = 0.5;

/** How room is shared out. */
export interface Sharing {
  readonly room: Room;
  /** Of a result that is cut, this share of what stays is its head. */
  readonly headShare: number;
  /** The newest prompt is cut too, where it is too long. */
  readonly cutsPrompt: boolean;
  readonly count: CountMessage;
}

/**
 * Cuts tool results, output of commands, what a host put in and, when asked, the newest prompt, so that the request comes
 * down to the target: the small ones stay whole, the large ones are cut to the same size, at least 64 tokens. Linear,
 * but for sorting the sizes.
 */
export function shareRoom(parts: RequestParts, sharing: Sharing): Shaping {
  const promptAt = promptPlace(parts.messages);
  const places = parts.messages.flatMap((message, at) => (isCut(message, at === promptAt, sharing) ? [at] : []));
  const sizes = places.map((at) => parts.tokens[at] ?? 0);
  const fixedTokens = tokensIn(parts) - sizes.reduce((total, size) => total + size, 0);
  const budgetTokens = Math.max(LEAST_TOKENS, cutoff(sizes, sharing.room.targetTokens - fixedTokens));
  const changed = new Map<number, Counted>();
  for (const at of places) {
    const message = parts.messages[at];
    if (message === undefined) continue;
    const headShare = at === promptAt ? PROMPT_HEAD_SHARE : sharing.headShare;
    const cut = cutMessage({ message, tokens: parts.tokens[at] ?? 0 }, { budgetTokens, headShare, count: sharing.count });
    if (cut.message !== message) changed.set(at, cut);
  }
  return changed.size === 0 ? unchanged(parts) : { parts: partsWith(parts, changed), changes: changesOf(parts, changed, promptAt) };
}

function isCut({ role }: ContextMessage, isPrompt: boolean, { cutsPrompt }: Sharing): boolean {
  if (isPrompt) return cutsPrompt;
  return role === "toolResult" || role === "bashExecution" || role === "custom";
}

/** The height up to which all are filled when a sum is shared out: the small ones whole, the rest alike. */
function cutoff(sizes: readonly number[], sum: number): number {
  let left = sum;
  for (const [at, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const each = Math.floor(left / (sizes.length - at));
    if (size > each) return each;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function changesOf(parts: RequestParts, changed: ReadonlyMap<number, Counted>, promptAt: number): readonly Change[] {
  const results = new Map([...changed].filter(([at]) => at !== promptAt));
  const prompt = new Map([...changed].filter(([at]) => at === promptAt));
  const changes: Change[] = [];
  if (results.size > 0) changes.push({ kind: "cut-tool-results", results: results.size, tokens: savedBy(parts, results) });
  if (prompt.size > 0) changes.push({ kind: "cut-prompt", tokens: savedBy(parts, prompt) });
  return changes;
}
