import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type Answer, type AnswerText, type ChatBody, overflow, text } from "./answer.js";
import { type Call, send, tokensOf } from "./send-answer.js";

export * from "./answer.js";

/** A request as it came. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body's bytes. */
  readonly raw: Buffer;
  readonly body: ChatBody;
  /** As `count` of the server counts them. */
  readonly tokens: number;
  /** Resolves when the connection closed before the answer was complete: the client gave up, or the server dropped it. */
  readonly gone: Promise<void>;
}

/** How a model server counts and what it allows. */
export interface ModelServerOptions {
  /** A longer request gets OpenAI's refusal. */
  readonly limitTokens?: number;
  /** Default: a quarter of the characters of the JSON of messages and tools. */
  readonly count?: (body: ChatBody) => number;
}

/** A model on 127.0.0.1: chat completions (streamed or not) and a remote summary endpoint. */
export interface ModelServer {
  /** For OpenAI-compatible clients; ends in `/v1`. */
  readonly baseURL: string;
  /** For `remoteSummarizer`. */
  readonly summarizeURL: string;
  /** All requests so far, oldest first; those that were refused too. */
  readonly requests: readonly RecordedRequest[];
  /** Scripts the next answers, in order; a text is answered as it is. */
  reply(...answers: readonly (Answer | AnswerText)[]): void;
  /** What is answered when the script is empty. Default: "A summary of the conversation." */
  otherwise(answer: Answer | AnswerText): void;
  /** From now on a longer request gets OpenAI's refusal; null: none does. */
  limit(tokens: number | null): void;
  /** The n-th request (0: the first), as soon as it has come. */
  request(index: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

/** Starts a server that ends with the test. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = await openModelServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Starts a server; the caller closes it. */
export async function openModelServer({ limitTokens, count = countBody }: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const script: Answer[] = [];
  const waiting: (() => void)[] = [];
  let fallback: Answer = text("A summary of the conversation.");
  let limit = limitTokens ?? null;

  const server = createServer((incoming, response) => {
    answerTo(incoming, response).catch((error: unknown) => {
      // A script that throws, or a client that left while it was sending.
      if (!response.headersSent) response.writeHead(500).end(`model server: ${String(error)}`);
      else response.destroy();
    });
  });
  const answerTo = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await record(incoming, response, count);
    requests.push(request);
    for (const wake of waiting.splice(0)) wake();
    const tooLong = limit !== null && request.tokens > limit;
    const answer = tooLong ? overflow(limit ?? 0, request.tokens) : (script.shift() ?? fallback);
    await send(response, answer, callOf(request));
  };
  const port = await listening(server);

  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    summarizeURL: `http://127.0.0.1:${port}/summarize`,
    requests,
    reply: (...answers) => void script.push(...answers.map(asAnswer)),
    otherwise: (answer) => {
      fallback = asAnswer(answer);
    },
    limit: (tokens) => {
      limit = tokens;
    },
    request: async (index) => {
      for (;;) {
        const found = requests[index];
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    close: () => closed(server),
  };
}

function asAnswer(given: Answer | AnswerText): Answer {
  return typeof given === "string" || typeof given === "function" ? text(given) : given;
}

async function record(incoming: IncomingMessage, response: ServerResponse, count: (body: ChatBody) => number): Promise<RecordedRequest> {
  const gone = new Promise<void>((resolve) => response.once("close", () => response.writableFinished || resolve()));
  const chunks: Buffer[] = [];
  for await (const piece of incoming) chunks.push(piece as Buffer);
  const bytes = Buffer.concat(chunks);
  const body = bytes.length === 0 ? {} : (JSON.parse(bytes.toString("utf8")) as ChatBody);
  return { path: incoming.url ?? "", headers: incoming.headers, raw: bytes, body, tokens: count(body), gone };
}

function callOf({ path, body, tokens }: RecordedRequest): Call {
  const protocol = path === "/summarize" ? "summarize" : body.stream === true ? "stream" : "whole";
  return { body, promptTokens: tokens, protocol };
}

function countBody({ messages, tools, systemPrompt, prompt }: ChatBody): number {
  return tokensOf(
    messages === undefined ? `${systemPrompt ?? ""}${prompt ?? ""}` : JSON.stringify(messages) + (JSON.stringify(tools) ?? ""),
  );
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  const done = once(server, "close");
  server.close();
  server.closeAllConnections();
  await done;
}
