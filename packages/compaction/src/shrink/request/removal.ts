import type { Change, Removal } from "./change.js";
import type { Group } from "./layout.js";
import { partsWhere, type RequestParts, type Shaping, tokensIn, unchanged } from "./request-parts.js";
import type { Room } from "./room.js";

/** Groups that may go, in the order in which they go. */
export interface Stage {
  readonly pass: Removal;
  readonly groups: readonly Group[];
}

/**
 * Leaves out groups, stage by stage. A stage begins only while the request is over the limit, and then goes on to the
 * target, as Copilot CLI's passes do. A group may stand in several stages. Linear.
 */
export function removeInStages(parts: RequestParts, stages: readonly Stage[], room: Room): Shaping {
  const gone = new Set<number>();
  const changes: Change[] = [];
  let total = tokensIn(parts);
  for (const { pass, groups } of stages) {
    if (total <= room.limitTokens) break;
    const before = { messages: gone.size, tokens: total };
    for (const group of groups) {
      if (total <= room.targetTokens) break;
      total -= remove(parts, group, gone);
    }
    if (gone.size > before.messages) {
      changes.push({ kind: "removed-messages", pass, messages: gone.size - before.messages, tokens: before.tokens - total });
    }
  }
  return changes.length === 0 ? unchanged(parts) : { parts: partsWhere(parts, (at) => !gone.has(at)), changes };
}

/** Marks the messages of a group as gone. @returns their tokens. */
function remove({ tokens }: RequestParts, { start, end }: Group, gone: Set<number>): number {
  let saved = 0;
  for (let at = start; at < end; at += 1) {
    if (gone.has(at)) continue;
    gone.add(at);
    saved += tokens[at] ?? 0;
  }
  return saved;
}
