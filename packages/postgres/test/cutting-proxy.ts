import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * How a connection is cut at a message of the client: `unsent`: the server never gets the message. `unanswered`: the server gets it and
 * answers, and the client gets no answer. `late`: the client is cut off, and the server gets the message when `deliver` is called.
 */
export type Cut = "unsent" | "unanswered" | "late";

/** Stands between the driver and a server, and cuts connections at chosen messages. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #late: (() => Promise<void>)[] = [];
  #next: { cut: Cut; fits: (message: Buffer) => boolean } | undefined;
  #refuses: number | undefined;
  /** Connections to the server that outlive that of the client. */
  readonly #held = new Set<Socket>();
  /** How often a connection was cut. */
  cuts = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy does not listen.");
    return address.port;
  }

  /** Cuts at the next message that fits. */
  arm(cut: Cut, fits: (message: Buffer) => boolean): void {
    this.#next = { cut, fits };
  }

  /** Cuts at the n-th message from now on. */
  armAt(cut: Cut, count: number): void {
    let left = count;
    this.arm(cut, () => --left === 0);
  }

  disarm(): void {
    this.#next = undefined;
  }

  /** From the next cut on, the server cannot be reached. */
  refuseAfterCut(): void {
    this.#refuses = this.cuts;
  }

  /** It can be reached again. */
  accept(): void {
    this.#refuses = undefined;
  }

  /** Gives the server what it has not got yet, and waits until it has answered. */
  async deliver(): Promise<void> {
    await Promise.all(this.#late.splice(0).map((send) => send()));
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#refuses !== undefined && this.cuts > this.#refuses) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, "127.0.0.1");
    const end = () => {
      client.destroy();
      server.destroy();
    };
    server.on("data", (answer) => client.write(answer));
    client.on("data", (message) => {
      const cut = this.#next?.fits(message) === true ? this.#next.cut : undefined;
      if (cut === undefined) {
        server.write(message);
        return;
      }
      this.#next = undefined;
      this.cuts++;
      this.#cut(cut, client, server, message);
    });
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.on("close", () => {
      if (!this.#held.has(server)) end();
    });
    server.on("close", end);
  }

  #cut(cut: Cut, client: Socket, server: Socket, message: Buffer): void {
    this.#held.add(server);
    server.removeAllListeners("data");
    const answered = () => new Promise<void>((resolve) => server.once("data", () => resolve()).once("close", () => resolve()));
    const finish = () => {
      client.destroy();
      server.destroy();
    };
    const send = async () => {
      // The server may have ended it meanwhile.
      if (server.destroyed || server.readableEnded) return;
      const answer = answered();
      server.write(message);
      await answer;
      finish();
    };
    if (cut === "unsent") finish();
    else if (cut === "unanswered") void send();
    else {
      client.destroy();
      this.#late.push(send);
    }
  }
}
