// A model provider on loopback that does what the providers' documentation says, and refuses what it says is refused. Each API is a
// route: it judges a request and answers. Nothing here knows Bough.
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** The answer to a request: the HTTP status and the JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** One API of a provider. `account`: the key of the request, to which signatures are bound. */
export type Route = (body: unknown, request: { readonly account: string; readonly betas: readonly string[] }) => Answer;

/** A request as it arrived, and its answer. */
interface Exchange extends Answer {
  readonly path: string;
  /** The body of the request. It is kept as text and parsed at each look: a long conversation sends hundreds of megabytes. */
  readonly sent: unknown;
}

/** A running server. */
export interface StrictServer {
  readonly url: string;
  /** All exchanges so far, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** Those that were refused. */
  readonly refused: () => readonly Exchange[];
  /** Sends a JSON body and returns the answer; `account` is the API key. */
  readonly post: (
    path: string,
    body: object,
    options?: { readonly account?: string; readonly betas?: readonly string[] },
  ) => Promise<Answer>;
}

/** Starts a server with these routes (by path). It is closed when the test has ended. */
export async function startStrictServer(routes: Readonly<Record<string, Route>>): Promise<StrictServer> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    const text = await read(request);
    const account = String(request.headers["x-api-key"] ?? request.headers.authorization ?? "");
    const betas = String(request.headers["anthropic-beta"] ?? "").split(",");
    const answer = routes[path]?.(JSON.parse(text), { account, betas }) ?? refusal(404, "not_found_error", `no route ${path}`);
    exchanges.push({
      path,
      get sent(): unknown {
        return JSON.parse(text);
      },
      ...answer,
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  // A client that has no time for five seconds would find its connection closed.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    exchanges,
    refused: () => exchanges.filter(({ status }) => status !== 200),
    post: (path, body, { account = "account-1", betas = [] } = {}) => {
      const headers = { "content-type": "application/json", "x-api-key": account, "anthropic-beta": betas.join(",") };
      return posted(`${url}${path}`, headers, JSON.stringify(body));
    },
  };
}

/** Sends a body and reads the answer. By `node:http`: `fetch` copies and checks a body of a megabyte three times. */
async function posted(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer> {
  const sending = request(url, { method: "POST", headers }).end(body);
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: JSON.parse(await read(response)) as object };
}

async function read(message: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

/** An error in the form of the providers. */
export function refusal(status: number, type: string, message: string): Answer {
  return { status, body: { type: "error", error: { type, message } } };
}
