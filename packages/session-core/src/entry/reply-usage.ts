import type { EntryPayload, PayloadOf } from "./entry.js";
import { isSummary } from "./kinds.js";
import type { Message, Usage } from "./message.js";

/** The usage of one model call, and the model that it is counted for. */
export interface ReplyUsage {
  readonly provider: string;
  readonly model: string;
  readonly replies: number;
  readonly usage: Usage;
}

/** The usage that an entry adds to the totals: of a reply, or of the model call that wrote a summary; otherwise undefined. */
export function usageOf(payload: EntryPayload): ReplyUsage | undefined {
  if (payload.type === "message") return messageUsage(payload.message);
  return isSummary(payload) ? summaryUsage(payload) : undefined;
}

/** True if a usage contains any figure. The usage of a reply that recorded none is empty, which differs from 0. */
export function isRecorded({ input, output, cacheRead, cacheWrite, cost }: Usage): boolean {
  return [input, output, cacheRead, cacheWrite, cost?.total].some((figure) => figure !== undefined);
}

/** The model name under which summaries without a model are counted. */
const SUMMARIES = "(summaries)";

/** The usage of the model call that wrote a summary. Hosts may store its model in members of their own. */
function summaryUsage(payload: PayloadOf<"compaction" | "branch_summary">): ReplyUsage | undefined {
  const { usage, provider, model } = payload;
  if (usage === undefined) return undefined;
  return { provider: textOrDefault(provider, ""), model: textOrDefault(model, SUMMARIES), replies: 1, usage };
}

function textOrDefault(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value : fallback;
}

function messageUsage(message: Message): ReplyUsage | undefined {
  if (message.role !== "assistant") return undefined;
  // A reply without usage still counts as a reply of its model.
  if (message.usage === undefined && message.model === undefined) return undefined;
  return { provider: message.provider ?? "", model: message.model ?? "", replies: 1, usage: message.usage ?? {} };
}
