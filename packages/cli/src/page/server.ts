import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BoughError } from "@bough/session-core";
import { errorCode } from "@bough/session-core/engine";
import { CommandError } from "../errors.js";
import { errorLine } from "../format/error-text.js";
import { servedPolicy } from "./document.js";

/** A request for something below the secret folder. */
export interface PageRequest {
  /** The path below the folder, without a slash at its start, decoded part by part. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** The path of the secret folder, with a slash at its end. */
  readonly root: string;
}

/** Sends an event to a client; resolves when the client can take the next one. */
export type SendEvent = (event: { readonly id: string; readonly data: unknown }) => Promise<void>;

/** An answer; undefined: there is nothing at this path. */
export type Answer =
  | { readonly kind: "page"; readonly pieces: AsyncIterable<string> }
  | { readonly kind: "json"; readonly value: unknown }
  /** `follow` sends events until the signal is aborted, and then resolves. */
  | { readonly kind: "events"; readonly follow: (send: SendEvent, signal: AbortSignal) => Promise<void> }
  | undefined;

/** Options of `PageServer`. */
interface PageServerOptions {
  /** 0: the one of `name` if it is free, else any other. */
  readonly port: number;
  /** Names the content of the server. The port follows from it, so that a browser finds what it keeps for the address, such as the theme. */
  readonly name?: string;
  /** The server ends after this time without a request; 0: never. */
  readonly idleMs: number;
  /** The answer to a request. It may throw, before the first piece. */
  readonly answer: (request: PageRequest) => Promise<Answer>;
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
    this.#server = createServer({ maxHeaderSize: MOST_ADDRESS_BYTES }, (request, response) => void this.#answer(request, response));
    this.ended = new Promise((resolve) => this.#server.once("close", resolve));
  }

  /** @throws {CommandError} the port is taken, or not allowed. */
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
    const { port, name } = this.#options;
    const wanted = port === 0 && name !== undefined ? [portOf(name), 0] : [port];
    for (const [at, one] of wanted.entries()) {
      try {
        this.#server.listen({ port: one, host: "127.0.0.1" });
        await once(this.#server, "listening");
        break;
      } catch (error) {
        if (at === wanted.length - 1) throw new CommandError("PORT_REFUSED", describePortError(error, port), { cause: error });
      }
    }
    this.#hosts = new Set([new URL(this.#origin).host, `localhost:${new URL(this.#origin).port}`]);
    this.#waitForRequest();
  }

  #waitForRequest(): void {
    clearTimeout(this.#idle);
    // A page that was open ends after the server: a timer would keep the process for an hour.
    if (this.#server.listening && this.#options.idleMs > 0) this.#idle = setTimeout(() => this.close(), this.#options.idleMs);
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

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url = "" } = request;
    if (method !== "GET" && method !== "HEAD") return refuse(response, 405, "This page is only read.");
    if (!this.#isOwn(headers)) return refuse(response, 403, "This address is not the server's own.");
    const [path = "", query = ""] = url.split(/\?(.*)/s);
    const [name = "", ...rest] = path.slice(1).split("/");
    const isVisit = this.#ticket !== undefined && isSame(name, this.#ticket);
    if (!isVisit && !isSame(name, this.#token)) return refuse(response, 403, "This is not the address that bough view printed.");
    if (await isOfAnotherUser(request.socket)) return refuse(response, 403, "This server answers the user who started it.");
    if (isVisit) {
      this.#ticket = undefined;
      response.writeHead(303, { ...HEADERS, location: `/${this.#token}/` }).end();
      return;
    }
    const answer = await this.#find({ path: rest, query: new URLSearchParams(query), root: `/${this.#token}/` });
    if (answer instanceof BoughError) return refuse(response, 503, errorLine(answer));
    if (answer === undefined) return refuse(response, 404, "There is nothing here.");
    if (answer.kind === "events" && method === "GET") return this.#stream(answer.follow, response);
    const type = { page: "text/html", json: "application/json", events: "text/event-stream" }[answer.kind];
    response.writeHead(200, { ...HEADERS, "content-type": `${type}; charset=utf-8`, "content-security-policy": servedPolicy("header") });
    if (method === "HEAD" || answer.kind === "events") response.end();
    else if (answer.kind === "json") response.end(JSON.stringify(answer.value));
    else await pipeline(Readable.from(answer.pieces, { objectMode: false }), response);
  }

  /** True if a request is for this server by its name, and was not made by the page of another one. */
  #isOwn({ host, origin }: IncomingHttpHeaders): boolean {
    if (host === undefined || !this.#hosts.has(host)) return false;
    return origin === undefined || origin === `http://${host}`;
  }

  /** Sends events until the client or the server ends the connection. A client that reads slowly gets the next event when it has read. */
  async #stream(follow: (send: SendEvent, signal: AbortSignal) => Promise<void>, response: ServerResponse): Promise<void> {
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    // The client has gone while its answer was looked for: the event came before.
    if (response.destroyed) return;
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream; charset=utf-8" });
    response.write(`retry: ${RETRY_MS}\n\n`);
    const send: SendEvent = async ({ id, data }) => {
      if (response.write(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`)) return;
      await once(response, "drain", { signal: closed.signal }).catch(() => undefined);
    };
    await follow(send, closed.signal);
    response.end();
  }

  /** An error: the store cannot be read now. */
  async #find({ path, ...request }: PageRequest): Promise<Answer | BoughError> {
    try {
      return await this.#options.answer({ ...request, path: path.map(decodeURIComponent) });
    } catch (error) {
      if (error instanceof URIError || (error instanceof BoughError && OF_ADDRESS.has(error.code))) return undefined;
      if (error instanceof BoughError) return error;
      throw error;
    }
  }
}

/** Errors that say that an address names nothing. */
const OF_ADDRESS = new Set(["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "INVALID_ARGUMENT"]);

/** The most bytes of an address and the headers of a request: the address of the rows of a tree names each unfolded branch, in some 12 bytes. */
const MOST_ADDRESS_BYTES = 1 << 21;

/** Time after which a browser connects again, in milliseconds. */
const RETRY_MS = 1000;

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

/** Ports below those that systems give away by themselves, and above those of well-known services. */
const [FIRST_PORT, PORTS] = [20_000, 12_000];

function portOf(name: string): number {
  return FIRST_PORT + (createHash("sha256").update(name).digest().readUInt32BE() % PORTS);
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
  const code = errorCode(error);
  if (code === "EADDRINUSE") return `Port ${port} is in use. Name another one with --port, or omit it.`;
  if (code === "EACCES") return `Port ${port} is not allowed. Name one above 1023 with --port, or omit it.`;
  return `No server can listen on port ${port}: ${error instanceof Error ? error.message : String(error)}`;
}

/** The kernel's lists of connections, where it has them: Linux. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * True if a connection over loopback comes from a process of another user of this machine. Root may read everything anyway. Where the
 * system does not say whose a connection is, the secret in the address has to be enough, and this is false.
 */
async function isOfAnotherUser({ remotePort, localPort }: Pick<Socket, "remotePort" | "localPort">): Promise<boolean> {
  const own = process.getuid?.();
  if (own === undefined || remotePort === undefined || localPort === undefined) return false;
  for (const table of TABLES) {
    const owner = ownerIn(await readTable(table), remotePort, localPort);
    if (owner !== undefined) return owner !== own && owner !== 0;
  }
  return false;
}

/** The user of the end of a connection that has the port `from`; undefined: the table does not have it. */
export function ownerIn(table: string, from: number, to: number): number | undefined {
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", remote = "", , , , , owner] = line.trim().split(/\s+/);
    if (owner !== undefined && portIn(local) === from && portIn(remote) === to) return Number(owner);
  }
  return undefined;
}

/** The port of an address in the table, such as `0100007F:1F90`. */
function portIn(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return ""; // another system, or a container that hides it
  }
}
