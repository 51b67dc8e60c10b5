import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PortRefusedError } from "../errors.js";
import { pagePolicy } from "./document.js";

/** An answer: a page in pieces; undefined: there is none at this path. */
type Answer = AsyncIterable<string> | undefined;

/** Options of `PageServer`. */
interface PageServerOptions {
  /** 0: any free one. */
  readonly port: number;
  /** The server ends after this time without a request; 0: never. */
  readonly idleMs: number;
  /** The page at a path below the secret folder, without a slash at its start. It may throw, before the first piece. */
  readonly page: (path: string) => Promise<Answer>;
}

/** Time until the server closes open connections when it ends, in milliseconds. */
const GRACE = 500;

/**
 * A read-only web server on the loopback interface. Its pages stand below a folder whose name is a secret of 192 bits. A request needs
 * this name and the server's own `Host`, so that neither another user's program nor a web page that rebinds its name reads them.
 */
export class PageServer {
  readonly #server: Server;
  readonly #options: PageServerOptions;
  readonly #token = newToken();
  /** A name for one visit that leads to the secret folder: command lines of a browser are visible to other users. */
  #ticket: string | undefined = newToken();
  #idle: NodeJS.Timeout | undefined;
  #open = 0;
  #hosts: ReadonlySet<string> = new Set();
  /** Resolves when the server has ended: by `close`, or because it was idle. */
  readonly ended: Promise<void>;

  private constructor(options: PageServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.ended = new Promise((resolve) => this.#server.once("close", resolve));
  }

  /** @throws {PortRefusedError} the port is taken, or not allowed. */
  static async start(options: PageServerOptions): Promise<PageServer> {
    const server = new PageServer(options);
    await server.#listen();
    return server;
  }

  /** The address of the pages. Anyone with the address can read them. */
  get address(): string {
    return `${this.#origin}/${this.#token}/`;
  }

  /** An address that leads to `address` once. */
  get visit(): string {
    return `${this.#origin}/${this.#ticket}`;
  }

  /** Ends the server. Pages that are being written are cut off after half a second. */
  close(): void {
    clearTimeout(this.#idle);
    this.#server.close();
    this.#server.closeIdleConnections();
    setTimeout(() => this.#server.closeAllConnections(), GRACE).unref();
  }

  get #origin(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  async #listen(): Promise<void> {
    const { port } = this.#options;
    try {
      this.#server.listen({ port, host: "127.0.0.1" });
      await once(this.#server, "listening");
    } catch (error) {
      throw new PortRefusedError(describePortError(error, port), { cause: error });
    }
    this.#hosts = new Set([new URL(this.#origin).host, `localhost:${new URL(this.#origin).port}`]);
    this.#waitForRequest();
  }

  #waitForRequest(): void {
    clearTimeout(this.#idle);
    if (this.#options.idleMs > 0) this.#idle = setTimeout(() => this.close(), this.#options.idleMs);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    clearTimeout(this.#idle);
    this.#open += 1;
    try {
      await this.#respond(request, response);
    } catch {
      // The client disconnected, or reading failed in the middle: the page is incomplete, so the connection is closed.
      response.destroy();
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#waitForRequest();
    }
  }

  async #respond({ method, headers, url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD") return refuse(response, 405, "This page is only read.");
    if (!this.#hosts.has(headers.host ?? "")) return refuse(response, 403, "This address is not the server's own.");
    const [name = "", ...rest] = (url.split(/[?#]/, 1)[0] ?? "").slice(1).split("/");
    if (this.#ticket !== undefined && isSame(name, this.#ticket)) {
      this.#ticket = undefined;
      response.writeHead(303, { ...HEADERS, location: `/${this.#token}/` }).end();
      return;
    }
    const page = isSame(name, this.#token) ? await this.#find(rest.join("/")) : undefined;
    if (page === undefined) return refuse(response, 404, "There is nothing here.");
    response.writeHead(200, { ...HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy("header") });
    if (method === "HEAD") response.end();
    else await pipeline(Readable.from(page, { objectMode: false }), response);
  }

  async #find(path: string): Promise<Answer> {
    try {
      return await this.#options.page(decodeURIComponent(path));
    } catch {
      return undefined;
    }
  }
}

const HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...HEADERS, "content-type": "text/plain; charset=utf-8", "content-security-policy": "default-src 'none'" });
  response.end(`${text}\n`);
}

function newToken(): string {
  return randomBytes(24).toString("base64url");
}

/** Compares two names in a time that does not depend on their content. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function describePortError(error: unknown, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `Port ${port} is in use. Name another one with --port, or omit it.`;
  if (code === "EACCES") return `Port ${port} is not allowed. Name one above 1023 with --port, or omit it.`;
  return `No server can listen on port ${port}: ${error instanceof Error ? error.message : String(error)}`;
}
