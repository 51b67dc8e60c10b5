import { parseJson } from "@bough/session-core/wire";

/** The details of a failed call, from an error of any library. */
export interface FailureDetails {
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Messages, codes and the response body, one each line; at most 8,000 characters. Untrusted. */
  readonly text: string;
  /** The delay that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Error pages can be megabytes; the details are at the start. In UTF-16 code units. */
const MAX_TEXT = 8_000;
/** Nested wrappers: a `RetryError` of an `APICallError` of a `TypeError` of a socket error is four. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 200;

/** Fields with texts about a failure. The fields of the request are excluded, because they contain the conversation. */
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
/** Fields with the underlying failure: AI SDK, OpenAI's and Anthropic's SDKs, fetch wrappers, gRPC. */
const INNER = ["lastError", "cause", "error", "data", "body", "response", "details"];
const STATUS = ["statusCode", "status", "code"];

/**
 * Reads the details of an unknown error, outermost first. Never reads the request, so that the conversation is not taken
 * for the provider's text. Pure; cost is bounded.
 *
 * @param nowMs - needed for a `Retry-After` with a date
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

/** The parts of an error that describe a failed call, each empty if the error has none. Untrusted. */
export interface FailureParts {
  readonly status: number | undefined;
  readonly message: string;
  /** Message or code of the innermost cause: `fetch` reports only that it failed, its cause why. */
  readonly cause: string;
  /** The server's answer. */
  readonly body: string;
}

/** Most causes behind an error that are read. */
const MAX_CAUSES = 5;

/** Reads the parts of an unknown error; of several attempts, of the last one, because the call failed with it. */
export function readFailureParts(error: unknown): FailureParts {
  const last = isRecord(error) ? (error["lastError"] ?? error) : error;
  if (!isRecord(last)) return { status: undefined, message: typeof last === "string" ? last : "", cause: "", body: "" };
  const status = last["statusCode"];
  return {
    status: typeof status === "number" ? status : undefined,
    message: readText(last, "message"),
    cause: readInnermostCause(last),
    body: readText(last, "responseBody"),
  };
}

function readInnermostCause(error: Readonly<Record<string, unknown>>): string {
  let found = "";
  let cause = error["cause"];
  for (let depth = 0; depth < MAX_CAUSES && isRecord(cause); depth += 1) {
    found = readText(cause, "message") || readText(cause, "code") || found;
    cause = cause["cause"];
  }
  return found;
}

function readText(value: Readonly<Record<string, unknown>>, name: string): string {
  const found = value[name];
  return typeof found === "string" ? found : "";
}

type Layer = Readonly<Record<string, unknown>> | string;

/** The error and its underlying errors, each once. */
function unwrapError(error: unknown): readonly Layer[] {
  const layers: Layer[] = [];
  const visit = (given: unknown, depth: number): void => {
    if (typeof given === "string") layers.push(given);
    if (depth > MAX_DEPTH || !isRecord(given) || layers.includes(given)) return;
    layers.push(given);
    for (const name of INNER) visit(given[name], depth + 1);
    // A RetryError keeps every attempt; only the last one is the reason.
    if (given["lastError"] === undefined && Array.isArray(given["errors"])) {
      for (const one of given["errors"].slice(0, 8)) visit(one, depth + 1);
    }
  };
  visit(error, 0);
  return layers;
}

/** All fields are read only from a response: the given value may be a stored message, whose fields contain a conversation. */
function collectTexts(layer: Layer, isAnswer: boolean): readonly string[] {
  if (typeof layer === "string") return expandJson(layer);
  const words = WORDS.flatMap((name) => {
    const value = layer[name];
    return typeof value === "string" ? expandJson(value) : [];
  });
  return isAnswer && !(layer instanceof Error) ? [...words, ...collectFields(layer)] : words;
}

/** The text and, if it is JSON, its fields, because escapes such as `\u003e` hide the phrases to match. */
function expandJson(text: string): readonly string[] {
  const start = text.slice(0, MAX_TEXT);
  const json = parseContainer(start);
  return json === undefined ? [start] : [start, ...collectFields(json)];
}

/** undefined: it is truncated, or not JSON. The text itself is used in any case. */
function parseContainer(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
}

/** Each string and number inside a JSON value as a line `name: value`. Used only for responses. */
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
  if (typeof value === "string") return [[name, parseContainer(value)]];
  // Array.from, because map skips holes.
  if (Array.isArray(value)) return Array.from(value, (one: unknown) => [name, one]);
  return isRecord(value) && !(value instanceof Error) ? listResponseFields(value) : [];
}

const REQUEST_FIELDS = new Set([
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
  return Object.entries(value).filter(([key]) => !REQUEST_FIELDS.has(key));
}

function readStatus(layer: Layer): number | undefined {
  if (typeof layer === "string") return undefined;
  return findFirst(STATUS, (name) => {
    const given = layer[name];
    const value = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
    return Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined;
  });
}

/** OpenAI's and Anthropic's SDKs start their messages with the status: `413 status code (no body)`. */
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
