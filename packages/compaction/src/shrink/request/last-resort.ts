import type { CompactionSettings } from "../../settings/settings.js";
import type { Change, Removal } from "./change.js";
import { type Group, layoutOf } from "./layout.js";
import { type CountMessage, partsWhere, type RequestParts, type Shaping, tokensIn, unchanged } from "./request-parts.js";
import type { Room } from "./room.js";
import { shareRoom } from "./share-room.js";

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
