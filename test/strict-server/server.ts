// A model provider on loopback that does what the providers' documentation says, and refuses what it says is refused. Each API is a
// route: it judges a request and answers. Nothing here knows Bough.
import { once } from "node:events";
import { createServer } from "node:http";
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
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const path = request.url ?? "/";
    const sent: unknown = JSON.parse(Buffer.concat(pieces).toString());
    const account = String(request.headers["x-api-key"] ?? request.headers.authorization ?? "");
    const betas = String(request.headers["anthropic-beta"] ?? "").split(",");
    const answer = routes[path]?.(sent, { account, betas }) ?? refusal(404, "not_found_error", `no route ${path}`);
    exchanges.push({ path, sent, ...answer });
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
    post: async (path, body, { account = "account-1", betas = [] } = {}) => {
      const headers = { "content-type": "application/json", "x-api-key": account, "anthropic-beta": betas.join(",") };
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as object };
    },
  };
}

/** An error in the form of the providers. */
export function refusal(status: number, type: string, message: string): Answer {
  return { status, body: { type: "error", error: { type, message } } };
}
