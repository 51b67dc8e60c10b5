import { z } from "zod";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { judgeReply } from "./judge-reply.js";
import type { SummaryReply } from "./summarizer.js";

const count = z.number().nonnegative().optional().catch(undefined);
const usage = z.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count, totalTokens: count });

/** What a summariser may give. Only the text must be right; the rest is dropped where it is not. */
const reply = z.object({
  text: z.string(),
  usage: usage.optional().catch(undefined),
  extracted: z.boolean().optional().catch(undefined),
  requestId: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
});

/**
 * The one gate for what a summariser gave, ours or a host's.
 *
 * @throws {SummaryRejectedError} it is no text, or its text is none that can stand as a summary.
 */
export function readReply(given: unknown): SummaryReply {
  const judged = reply.safeParse(typeof given === "string" ? { text: given } : given);
  if (!judged.success) throw new SummaryRejectedError("not-a-text");
  return { ...judged.data, text: judgeReply({ text: judged.data.text, end: "unknown", callsTool: false }) };
}
