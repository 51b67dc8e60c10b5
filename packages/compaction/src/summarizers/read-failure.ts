/** What an error of any library says about a failed call. */
export interface FailureDetails {
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** Its words: messages, codes and the answer's body, one each line; at most `MAX_TEXT` characters. Untrusted. */
  readonly text: string;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** An error page can be megabytes; what is looked for stands at its start. In UTF-16 code units. */
const MAX_TEXT = 8_000;
/** Wrappers around wrappers: `RetryError` of an `APICallError` of a `TypeError` of a socket's error is four. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 200;

/** Where libraries keep the words of a failure. The request's own fields are not here: they hold the conversation. */
const WORDS = [
  "message",
  "errorMessage",
  "name",
  "code",
  "type",
  "status",
  "statusText",
  "detail",
  "reason",
  "responseBody",
  "body",
  "text",
];
/** Where they keep the failure behind a failure: AI SDK, OpenAI's and Anthropic's SDKs, fetch wrappers, gRPC. */
const BEHIND = ["lastError", "cause", "error", "data", "body", "response", "details"];
const STATUS = ["statusCode", "status", "code"];

/**
 * What an unknown error says, the outermost first. Never reads the request, so no word of a conversation can be taken
 * for the provider's. Pure; cost is bounded.
 *
 * @param nowMs - for a `Retry-After` that names a date
 */
export function parseFailure(error: unknown, nowMs: number = Date.now()): FailureDetails {
  const layers = unwrapError(error);
  const lines = layers.flatMap((layer, depth) => collectTexts(layer, depth > 0));
  return {
    status: findFirst(layers, readStatus) ?? parseStatusText(lines),
    text: lines.join("\n").slice(0, MAX_TEXT).toWellFormed(),
    retryAfterMs: findFirst(layers, (layer) => readRetryAfter(layer, nowMs)),
  };
}

type Layer = Readonly<Record<string, unknown>> | string;

/** The error and what stands behind it, each once. */
function unwrapError(error: unknown): readonly Layer[] {
  const found: Layer[] = [];
  const visit = (given: unknown, depth: number): void => {
    if (typeof given === "string") found.push(given);
    if (depth > MAX_DEPTH || !isRecord(given) || found.includes(given)) return;
    found.push(given);
    for (const name of BEHIND) visit(given[name], depth + 1);
    // A RetryError keeps every attempt; only the last one is why it failed.
    if (given["lastError"] === undefined && Array.isArray(given["errors"])) {
      for (const one of given["errors"].slice(0, 8)) visit(one, depth + 1);
    }
  };
  visit(error, 0);
  return found;
}

/** All fields are read of an answer only: what was given itself can be a stored message, whose fields hold a conversation. */
function collectTexts(layer: Layer, isAnswer: boolean): readonly string[] {
  if (typeof layer === "string") return expandJson(layer);
  const words = WORDS.flatMap((name) => {
    const value = layer[name];
    return typeof value === "string" ? expandJson(value) : [];
  });
  return isAnswer && !(layer instanceof Error) ? [...words, ...collectFields(layer)] : words;
}

/** The text, and where it is JSON its fields: escapes as `\u003e` hide what is looked for. */
function expandJson(text: string): readonly string[] {
  const start = text.slice(0, MAX_TEXT);
  const json = tryParseJson(start);
  return json === undefined ? [start] : [start, ...collectFields(json)];
}

function tryParseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Cut off, or only looks like JSON. The text itself is read in any case.
    return undefined;
  }
}

/** Each text and number inside a JSON value as a line `name: value`. Used on answers only. */
function collectFields(json: unknown): readonly string[] {
  const lines: string[] = [];
  const visit = (value: unknown, name: string, depth: number): void => {
    if (lines.length >= MAX_FIELDS || depth > MAX_DEPTH) return;
    if (typeof value === "string" || typeof value === "number") lines.push(`${name}: ${String(value).slice(0, MAX_TEXT)}`);
    for (const [key, inner] of listChildren(value, name)) visit(inner, key, depth + 1);
  };
  visit(json, "", 0);
  return lines;
}

function listChildren(value: unknown, name: string): readonly (readonly [string, unknown])[] {
  if (typeof value === "string") return [[name, tryParseJson(value)]];
  // Array.from, as a callback of map would leave gaps out.
  if (Array.isArray(value)) return Array.from(value, (one: unknown) => [name, one]);
  return isRecord(value) && !(value instanceof Error) ? listResponseFields(value) : [];
}

const OF_THE_REQUEST = new Set([
  "requestBodyValues",
  "requestBody",
  "request",
  "config",
  "options",
  "messages",
  "content",
  "prompt",
  "headers",
]);

function listResponseFields(value: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([key]) => !OF_THE_REQUEST.has(key));
}

function readStatus(layer: Layer): number | undefined {
  if (typeof layer === "string") return undefined;
  return findFirst(STATUS, (name) => {
    const given = layer[name];
    const value = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
    return Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined;
  });
}

/** OpenAI's and Anthropic's SDKs begin their messages with the status: `413 status code (no body)`. */
function parseStatusText(lines: readonly string[]): number | undefined {
  return findFirst(lines, (line) => {
    const [, status] = /^(?:HTTP |error code: |status(?: code)?:? )?([45]\d\d)\b/i.exec(line) ?? [];
    return status === undefined ? undefined : Number(status);
  });
}

function readRetryAfter(layer: Layer, nowMs: number): number | undefined {
  if (typeof layer === "string") return parseRetryText(layer);
  const given = layer["retryAfterMs"];
  if (typeof given === "number" && given >= 0) return given;
  const headers = layer["responseHeaders"] ?? layer["headers"];
  return parseRetryHeaders(headers, nowMs) ?? findFirst(collectTexts(layer, true), parseRetryText);
}

function parseRetryHeaders(headers: unknown, nowMs: number): number | undefined {
  const ms = Number.parseFloat(getHeader(headers, "retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const after = getHeader(headers, "retry-after");
  if (after === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1_000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Google's `retryDelay: 34s`, OpenAI's `Please try again in 6.5s` and `in 120ms`. */
function parseRetryText(text: string): number | undefined {
  const [, amount, unit] = /(?:retryDelay\W{1,4}|try again in )(\d+(?:\.\d+)?)\s?(ms|s)\b/i.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1_000);
}

function getHeader(headers: unknown, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  if (!isRecord(headers)) return undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}

function findFirst<In, Out>(list: readonly In[], find: (one: In) => Out | undefined): Out | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
