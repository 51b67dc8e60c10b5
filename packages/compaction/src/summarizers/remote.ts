import { raceAbort } from "@bough/session-core/engine";
import * as z from "zod";
import { SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { createEndpoint, type Endpoint, type EndpointOptions, postJson, readJson } from "./http.js";
import { parseSummarizerReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** The endpoint's response. Other fields are allowed and dropped. */
const responseSchema = z.looseObject({ summary: z.unknown(), usage: z.unknown().optional(), model: z.unknown().optional() });

/**
 * A summarizer for an endpoint that accepts `{systemPrompt, prompt}` and returns `{summary, usage?, model?}`, as
 * oh-my-pi's remote endpoint does. It does not stream and cannot continue a live request: full mode fails with
 * `bad-request`.
 *
 * @throws {InvalidArgumentError} `url` is not an HTTP URL. The summarizer throws as described at {Summarizer}; no message
 * contains a key.
 * @example
 * const summarizer = remoteSummarizer("https://summaries.example/v1", { headers: { authorization: `Bearer ${key}` } });
 */
export function remoteSummarizer(url: string, options: EndpointOptions = {}): Summarizer {
  const endpoint = createEndpoint(url, options);
  return (request) => raceAbort(() => requestSummary(endpoint, request), request.signal);
}

async function requestSummary(
  endpoint: Endpoint,
  { system, prompt, context, maxOutputTokens, signal }: SummaryRequest,
): Promise<SummaryReply> {
  if (context !== undefined) throw new SummarizerCallError("bad-request", "a remote summarizer takes the conversation as text only");
  const body = { systemPrompt: system, prompt, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
  const parsed = responseSchema.safeParse(await readJson(await postJson(endpoint, body, signal), endpoint));
  if (!parsed.success) throw new SummaryRejectedError("not-a-text");
  const { summary, usage, model } = parsed.data;
  return parseSummarizerReply({ text: summary, usage, model });
}
