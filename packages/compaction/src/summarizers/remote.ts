import { z } from "zod";
import { SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { untilAborted } from "./http/until-aborted.js";
import { createEndpoint, type Endpoint, type EndpointOptions, postJson } from "./http.js";
import { parseSummarizerReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** What an endpoint answers. Other fields are allowed and dropped. */
const answer = z.looseObject({ summary: z.unknown(), usage: z.unknown().optional(), model: z.unknown().optional() });

/**
 * A summarizer behind an address that takes `{systemPrompt, prompt}` and answers `{summary, usage?, model?}` (oh-my-pi's
 * remote endpoint). It does not stream, and cannot continue a live request: full mode fails with `bad-request`.
 *
 * @throws {InvalidArgumentError} `url` is no HTTP address. The summarizer itself throws as the port says; no message holds a key.
 * @example
 * const summarizer = remoteSummarizer("https://summaries.example/v1", { headers: { authorization: `Bearer ${key}` } });
 */
export function remoteSummarizer(url: string, options: EndpointOptions = {}): Summarizer {
  const endpoint = createEndpoint(url, options);
  return (request) => untilAborted(request.signal, () => requestSummary(endpoint, request));
}

async function requestSummary(
  endpoint: Endpoint,
  { system, prompt, context, maxOutputTokens, signal }: SummaryRequest,
): Promise<SummaryReply> {
  if (context !== undefined) throw new SummarizerCallError("bad-request", "a remote summarizer takes the conversation as text only");
  const body = { systemPrompt: system, prompt, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
  const judged = answer.safeParse(await readJson(await postJson(endpoint, body, signal), endpoint));
  if (!judged.success) throw new SummaryRejectedError("not-a-text");
  const { summary, usage, model } = judged.data;
  return parseSummarizerReply({ text: summary, usage, model });
}

async function readJson(response: Response, endpoint: Endpoint): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw new SummarizerCallError("network", "the endpoint's answer is no JSON");
    throw toCallError(error, endpoint);
  }
}
