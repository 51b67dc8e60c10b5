// A model server on loopback that speaks the APIs of Anthropic, OpenAI (Responses and Chat) and Google. Replies are scripted by the prompts
// (script.mjs), reach the client in pieces with pauses between them, and carry usage figures that no other reply has. The server records
// every request and every reply, so that a check can compare what an agent was sent with what it keeps.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { anthropic } from "./anthropic.mjs";
import { chat } from "./chat.mjs";
import { gemini } from "./gemini.mjs";
import { responses } from "./responses.mjs";
import { scriptedReply } from "./script.mjs";

const DIALECTS = [anthropic, responses, chat, gemini];

/**
 * @typedef {object} Call   A call of a tool, as the reply has it.
 * @property {string} id
 * @property {string} name
 * @property {object} input
 *
 * @typedef {object} Reply
 * @property {number} number     counts from 1 in one run
 * @property {string} marker     a word that only this reply has, in its text
 * @property {string} text
 * @property {string} thinking
 * @property {Call[]} calls
 * @property {{ input: number, output: number, cacheRead: number, cacheWrite: number }} usage   `input` without what was read from a cache
 *
 * @typedef {{ url: string, body: string, strings: string[], reply: Reply }} Exchange
 */

/** Starts a server on a free port. `pauseMs` lies between two pieces of a reply. */
export async function startModelServer({ pauseMs }) {
  /** @type {Exchange[]} */
  const exchanges = [];
  /** @type {string[]} */
  const unknown = [];
  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => answer({ url: request.url ?? "", method: request.method ?? "", body, response, exchanges, unknown, pauseMs }))
      .catch(() => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    exchanges,
    unknown,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

async function answer({ url, method, body, response, exchanges, unknown, pauseMs }) {
  const side = sideAnswer(url);
  if (side !== undefined) return sendJson(response, 200, side);
  const dialect = DIALECTS.find((one) => one.matches(url));
  if (dialect === undefined) {
    unknown.push(`${method} ${url}`);
    return sendJson(response, 404, { error: { message: "This server has no such path." } });
  }
  const sent = JSON.parse(body);
  const reply = scriptedReply(exchanges.length + 1, dialect.read(sent));
  exchanges.push({ url, body, strings: stringsOf(sent), reply });
  if (!dialect.streams(url, sent)) return sendJson(response, 200, dialect.whole(reply, sent));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const event of dialect.events(reply, sent)) {
    if (event === "pause") await pause(pauseMs);
    else response.write(event);
  }
  response.end();
}

/** What agents ask beside replies: lists of models and counts of tokens. */
function sideAnswer(url) {
  if (/count_?tokens/i.test(url)) return { input_tokens: 1000, totalTokens: 1000 };
  if (/\/models(\?|$)/.test(url)) return { object: "list", data: [{ id: "scripted-model", object: "model" }], models: [] };
  // Grok Build asks if the server is there.
  if (url === "/") return {};
  return undefined;
}

function sendJson(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** Every string of a JSON value, keys left out. */
export function stringsOf(value) {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(stringsOf);
}
