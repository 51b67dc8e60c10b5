import { Buffer } from "node:buffer";
import querystring from "node:querystring";
import { withoutSecrets } from "@bough/formats/secrets";
import { InvalidArgumentError } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { parseJson } from "@bough/session-core/wire";
import { ENDPOINT } from "../arguments/shapes.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";

/** The endpoint to which a summarizer sends its requests. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Removed from the messages of errors. */
  readonly secrets: readonly string[];
  readonly fetch: typeof fetch;
}

/** Options of calling an endpoint. */
export interface EndpointOptions {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`, for a proxy, a test or a log. */
  readonly fetch?: typeof fetch | undefined;
}

const JSON_HEADERS = { "content-type": "application/json" };

/** Headers with names in lower case: `fetch` sends both values of a name that is written in two ways. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Creates an endpoint. A name and password in the URL become a header, because `fetch` rejects such a URL and repeats it
 * in its error.
 *
 * @throws {InvalidArgumentError} `address` is not an HTTP URL.
 */
export function createEndpoint(address: string, options: EndpointOptions): Endpoint {
  rules.checkArgument("options", options, ENDPOINT);
  const { apiKey, headers = {}, fetch: ownFetch } = options;
  const url = parseHttpAddress(address);
  const password = querystring.unescape(url.password);
  const basic =
    url.username === "" ? undefined : `Basic ${Buffer.from(`${querystring.unescape(url.username)}:${password}`).toString("base64")}`;
  const secrets = [apiKey, password, ...url.searchParams.values(), ...listSecretHeaders(headers)].filter((one) => one !== undefined);
  url.username = "";
  url.password = "";
  const authorization = apiKey === undefined ? basic : `Bearer ${apiKey}`;
  return {
    url: url.href,
    headers: { ...JSON_HEADERS, ...(authorization === undefined ? {} : { authorization }), ...lowerCaseNames(headers) },
    secrets,
    fetch: ownFetch ?? ((input, init) => fetch(input, init)),
  };
}

function parseHttpAddress(address: string): URL {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  // The message omits the URL, because it may contain a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(
      "address",
      "a URL that begins with http:// or https://",
      "another one, not shown because it may contain a password",
    );
  return url;
}

function listSecretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const secret = Object.entries(headers).filter(([name]) => /authorization|key|token|secret|cookie/i.test(name));
  return secret.flatMap(([, value]) => [value, value.replace(/^\w+ /, "")]);
}

/**
 * Posts JSON and returns a successful response.
 *
 * A redirect is followed if it keeps the method (307, 308) and the origin, so that neither the key nor the conversation
 * is sent to another host.
 *
 * @throws {SummarizerCallError} any other status, or no response. Its message contains no secret. Also thrown when the
 * signal aborted; the adapter distinguishes the two (`raceAbort`).
 */
export async function postJson(endpoint: Endpoint, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  try {
    const response = await postWithRedirects(endpoint, JSON.stringify(body), signal);
    if (response.ok) return response;
    throw await toRefusal(response, endpoint);
  } catch (error) {
    throw toCallError(error, endpoint);
  }
}

/** The JSON of a response. @throws {SummarizerCallError} it is none, or the connection broke. */
export async function readJson(response: Response, endpoint: Endpoint): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw new SummarizerCallError("network", "the endpoint's response is not JSON");
    throw toCallError(error, endpoint);
  }
}

/** The provider's id of a response, from the headers of OpenAI, Anthropic and Azure. Header names in lower case. */
export function readRequestId(headers: Readonly<Record<string, string>> | undefined): string | undefined {
  return headers?.["x-request-id"] ?? headers?.["request-id"] ?? headers?.["apim-request-id"];
}

const MAX_REDIRECTS = 5;

async function postWithRedirects(endpoint: Endpoint, body: string, signal: AbortSignal | undefined): Promise<Response> {
  let url = new URL(endpoint.url);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const init: RequestInit = { method: "POST", headers: endpoint.headers, body, redirect: "manual", signal: signal ?? null };
    const response = await endpoint.fetch(url.href, init);
    if (!isRedirect(response)) return response;
    await response.body?.cancel();
    url = resolveRedirect(response, url);
  }
  throw new SummarizerCallError("bad-request", `more than ${MAX_REDIRECTS} redirects`);
}

function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

function resolveRedirect(response: Response, from: URL): URL {
  const location = response.headers.get("location") ?? "";
  const target = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  const keepsMethod = response.status === 307 || response.status === 308;
  if (keepsMethod && target?.origin === from.origin) return target;
  const problem = `the URL redirects to another place${target === undefined ? "" : ` (${target.origin})`}; use the final URL`;
  throw new SummarizerCallError("bad-request", problem, { status: response.status });
}

/** The most of an error page that is read, in bytes; enough for `parseFailure`. */
const MAX_ERROR_BYTES = 32_768;

async function toRefusal(response: Response, endpoint: Endpoint): Promise<SummarizerCallError> {
  const body = withoutSecrets(await readStart(response), endpoint.secrets);
  // The text of an error page is below its markup.
  const isPage = body.trimStart().startsWith("<");
  const message = findErrorMessage(body) ?? ((isPage ? "" : body.trim()) || response.statusText || body);
  return toCallError({ message, statusCode: response.status, responseHeaders: response.headers, responseBody: body }, endpoint);
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= MAX_ERROR_BYTES) break;
  }
  return text;
}

/** Finds the message in the common shapes: `{error: {message}}`, `{error: "..."}`, `{message}`, `{detail}`. */
function findErrorMessage(body: string): string | undefined {
  const [, quoted] = /"(?:message|error|detail)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  // A line break inside the quotes is not valid JSON; the caller then uses the whole body.
  const message = quoted === undefined ? undefined : parseJson(quoted);
  return typeof message === "string" ? message : undefined;
}

/**
 * Yields the `data` of each server-sent event of a body, in order, as specified by WHATWG: lines end with LF, CR or CRLF,
 * also when split between chunks; comments and other fields are skipped; several `data` lines are joined by LF; an
 * incomplete last event is dropped. Characters split between chunks are decoded correctly.
 *
 * @throws the error of reading the body, for example when the connection breaks.
 */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
  }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // The decoder drops a byte order mark and holds back an incomplete character until the next chunk.
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The LF of a CRLF whose CR ended the previous chunk; that line was already yielded.
    if (endedInReturn && text.startsWith("\n")) text = text.slice(1);
    endedInReturn = text === "" ? false : text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const open = lines.pop() ?? "";
    for (const line of lines) {
      yield [...rest, line].join("");
      rest = [];
    }
    rest.push(open);
  }
}
