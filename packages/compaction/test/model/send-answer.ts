import type { ServerResponse } from "node:http";
import type { Answer, ChatBody } from "./answer.js";
import { chunk, completion, event, TOOL_CALL, usageChunk, usageOf } from "./chat-frames.js";

/** How an answer is framed. */
export interface Call {
  readonly body: ChatBody;
  readonly promptTokens: number;
  readonly protocol: "stream" | "whole" | "summarize";
}

/** Does what the answer says. Resolves when the answer is sent, or never for one that hangs. */
export async function send(response: ServerResponse, answer: Answer, call: Call): Promise<void> {
  switch (answer.kind) {
    case "hang":
      return;
    case "raw":
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    case "text":
      return sendText(response, answer, call);
    case "trickle":
      return sendPieces(response, answer.pieces);
    case "drop":
      return sendHalf(response, answer);
    case "tool-call":
      return sendMessage(response, { content: answer.text, tool_calls: [TOOL_CALL] }, "tool_calls", call);
    case "refusal":
      return sendMessage(response, { content: null, refusal: answer.text }, "stop", call);
  }
}

async function sendText(response: ServerResponse, answer: Extract<Answer, { kind: "text" }>, call: Call): Promise<void> {
  await answer.when;
  const content = typeof answer.text === "string" ? answer.text : answer.text(call.body);
  const used = answer.usage ? tokensOf(content) : undefined;
  const message = answer.reasoning === undefined ? { content } : { reasoning_content: answer.reasoning, content };
  sendMessage(response, message, answer.finish, call, used);
}

function sendMessage(response: ServerResponse, message: Record<string, unknown>, finish: string | null, call: Call, used?: number): void {
  if (call.protocol === "summarize") {
    const usage = used === undefined ? {} : { usage: { input: call.promptTokens, output: used } };
    json(response, JSON.stringify({ summary: message["content"], ...usage }));
  } else if (call.protocol === "whole") {
    json(response, completion(message, finish, used === undefined ? undefined : usageOf(call.promptTokens, used)));
  } else {
    startStream(response);
    for (const delta of deltas(message)) response.write(chunk(delta));
    if (finish !== null) response.write(chunk({}, finish));
    if (used !== undefined) response.write(usageChunk(call.promptTokens, used));
    response.end(event("[DONE]"));
  }
}

/** The role, then each field; text in pieces of seven characters. */
function deltas({ content, reasoning_content, ...rest }: Record<string, unknown>): Record<string, unknown>[] {
  const pieces = (name: string, given: unknown): Record<string, unknown>[] =>
    typeof given === "string" ? (given.match(/[\s\S]{1,7}/g) ?? []).map((piece) => ({ [name]: piece })) : [];
  const others = Object.keys(rest).length === 0 ? [] : [rest];
  return [{ role: "assistant", content: "" }, ...pieces("reasoning_content", reasoning_content), ...pieces("content", content), ...others];
}

async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  startStream(response);
  for await (const piece of pieces) {
    if (response.destroyed) return;
    response.write(chunk({ content: piece }));
  }
  response.write(chunk({}, "stop"));
  response.end(event("[DONE]"));
}

async function sendHalf(response: ServerResponse, { after, how }: Extract<Answer, { kind: "drop" }>): Promise<void> {
  startStream(response);
  // Broken only when the half is on its way, or the client would never see a beginning.
  await new Promise<void>((resolve) => response.write(chunk({ role: "assistant", content: after }), () => resolve()));
  if (how === "end") response.end();
  else response.socket?.resetAndDestroy();
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

function json(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

/** Four characters are a token here: a rule that a test can work out. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
