import { InvalidArgumentError } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { ENDPOINT } from "../arguments/shapes.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { withoutSecrets } from "./failures/secrets.js";

/** Where a summarizer posts to, and with what. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Never in a message of an error. */
  readonly secrets: readonly string[];
  readonly fetch: typeof fetch;
}

/** What an adapter is told of its endpoint. */
export interface EndpointOptions {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the global `fetch`: a proxy, a test, a log. */
  readonly fetch?: typeof fetch | undefined;
}

const JSON_HEADERS = { "content-type": "application/json" };

/**
 * An endpoint. A name and password in the address become a header, because `fetch` refuses such an address and repeats it in
 * its error.
 *
 * @throws {InvalidArgumentError} `address` is no HTTP address.
 */
export function createEndpoint(address: string, options: EndpointOptions): Endpoint {
  rules.checkArgument("options", options, ENDPOINT);
  const { apiKey, headers = {}, fetch: ownFetch } = options;
  const url = parseHttpAddress(address);
  const basic =
    url.username === "" ? undefined : `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`;
  const secrets = [apiKey, url.password, ...url.searchParams.values(), ...listSecretHeaders(headers)].filter((one) => one !== undefined);
  url.username = "";
  url.password = "";
  const authorization = apiKey === undefined ? basic : `Bearer ${apiKey}`;
  return {
    url: url.href,
    headers: { ...JSON_HEADERS, ...(authorization === undefined ? {} : { authorization }), ...headers },
    secrets,
    fetch: ownFetch ?? ((input, init) => fetch(input, init)),
  };
}

function parseHttpAddress(address: string): URL {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  // The address itself is not told: it can hold a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(
      "address",
      "an address that begins with http:// or https://",
      "another one, which is not shown as it can hold a password",
    );
  return url;
}

function listSecretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const secret = Object.entries(headers).filter(([name]) => /authorization|key|token|secret|cookie/i.test(name));
  return secret.flatMap(([, value]) => [value, value.replace(/^\w+ /, "")]);
}

/**
 * Posts JSON and gives the answer, if its status says success.
 *
 * A redirect is followed where it keeps the method (307, 308) and stays with the same host: neither the key nor the
 * conversation goes to a host that nobody named.
 *
 * @throws {SummarizerCallError} any other status, or no answer at all; no secret is in its message. Also when the signal
 * aborted: the adapter, which knows the signal, tells the abort from a failure (`untilAborted`).
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

/** The id that a provider gave its answer, as OpenAI, Anthropic and Azure name the header. Header names in lower case. */
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
  const problem = `the address redirects elsewhere${target === undefined ? "" : ` (${target.origin})`}; give the final address`;
  throw new SummarizerCallError("bad-request", problem, { status: response.status });
}

/** More of an error page is not read. In bytes; enough for what `readFailure` looks at. */
const MAX_ERROR_BYTES = 32_768;

async function toRefusal(response: Response, endpoint: Endpoint): Promise<SummarizerCallError> {
  const body = withoutSecrets(await readStart(response), endpoint.secrets);
  const said = findErrorMessage(body) ?? (response.statusText || body);
  return toCallError({ message: said, statusCode: response.status, responseHeaders: response.headers, responseBody: body }, endpoint);
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

/** The sentence in the shapes that are in use: `{error: {message}}`, `{error: "..."}`, `{message}`, `{detail}`. */
function findErrorMessage(body: string): string | undefined {
  const [, said] = /"(?:message|error|detail)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return said === undefined ? undefined : tryParseString(said);
}

function tryParseString(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // A line break inside the quotes: not JSON, but the body is still read as a whole.
    return undefined;
  }
}

/**
 * The `data` of each server-sent event of a body, in order, as the WHATWG specification reads them: lines end with LF, CR
 * or CRLF (also cut in two by a chunk), comments and other fields are skipped, several `data` lines are joined by LF, and
 * an event that the end of the body cuts off is dropped. Characters cut in two by a chunk are put together again.
 *
 * @throws what reading the body throws, for example when the connection breaks.
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
  // The decoder drops a byte order mark, and holds back half a character until the rest has come.
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The LF of a CRLF whose CR ended the chunk before: that line is told already.
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
