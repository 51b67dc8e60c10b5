import { connect } from "node:net";
import { SessionNotFoundError, StoreUnavailableError } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type Answer, PageServer } from "../../src/page/server.js";

async function* pieces(): AsyncGenerator<string> {
  yield "<p>one";
  yield "</p>";
}

function page(parts: AsyncGenerator<string>): Answer {
  return { kind: "page", pieces: parts };
}

describe("the server of pages", () => {
  test("ends when nobody asks for a page during the idle time", async () => {
    const server = await PageServer.start({ port: 0, idleMs: 1, answer: async () => page(pieces()) });
    await server.ended;
    await expect(fetch(server.address)).rejects.toThrow();
  });

  test("does not count the time in which it writes a page as idle", async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let ended = false;
    const server = await PageServer.start({
      port: 0,
      idleMs: 250,
      answer: async () => {
        await gate;
        return page(pieces());
      },
    });
    void server.ended.then(() => {
      ended = true;
    });
    const answer = fetch(server.address);
    // Another server that nobody asks ends after the same time.
    await (await PageServer.start({ port: 0, idleMs: 500, answer: async () => undefined })).ended;
    expect(ended).toBe(false);
    release();
    expect(await (await answer).text()).toBe("<p>one</p>");
    await server.ended;
  });

  test("answers the address that names 20,000 unfolded branches", async () => {
    const lines = Array.from({ length: 20_000 }, (_one, at) => `line=${at}`).join("&");
    let asked = 0;
    const server = await PageServer.start({
      port: 0,
      idleMs: 0,
      answer: async ({ query }) => {
        asked = query.getAll("line").length;
        return page(pieces());
      },
    });
    const response = await fetch(`${server.address}?${lines}`);
    expect([response.status, asked]).toEqual([200, 20_000]);
    server.close();
    await server.ended;
  });

  test("sends events with their ids, and no further one to a client that does not read before it does", async () => {
    const taken: number[] = [];
    const large = "x".repeat(1_000_000);
    const server = await PageServer.start({
      port: 0,
      idleMs: 0,
      answer: async () => ({
        kind: "events",
        follow: async (send, signal) => {
          for (let at = 0; at < 40 && !signal.aborted; at += 1) {
            await send({ id: String(at), data: { at, large } });
            taken.push(at);
          }
        },
      }),
    });
    const response = await fetch(server.address);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const whole = await response.text();
    expect([...whole.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(Array.from({ length: 40 }, (_, at) => at));
    // A client that goes away ends what is sent to it.
    const left = new AbortController();
    const other = await fetch(server.address, { signal: left.signal });
    taken.length = 0;
    left.abort();
    await expect(other.text()).rejects.toThrow();
    server.close();
    await server.ended;
    expect(taken.length).toBeLessThan(40);
  });

  test("sends no events to a client that went while its answer was looked for, and ends when it is idle", async () => {
    let ask: () => void = () => undefined;
    let release: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let followed = 0;
    const server = await PageServer.start({
      port: 0,
      idleMs: 1000,
      answer: async ({ path: [name] }) => {
        if (name !== "events") return page(pieces());
        ask();
        await gate;
        return {
          kind: "events",
          follow: async (send) => {
            followed += 1;
            await send({ id: "1", data: 1 });
          },
        };
      },
    });
    const { host, port, pathname } = new URL(server.address);
    const client = connect(Number(port), "127.0.0.1").end(`GET ${pathname}events HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await asked;
    client.destroy();
    // The server reads the end of the first connection before the request of the second one.
    await (await fetch(server.address)).text();
    release();
    await (await fetch(server.address)).text();
    expect(followed).toBe(0);
    await server.ended;
  });

  test("says why the store cannot be read, apart from that an address names nothing", async () => {
    const server = await PageServer.start({
      port: 0,
      idleMs: 0,
      answer: async ({ path: [name = ""] }) => {
        throw name === "gone" ? new SessionNotFoundError(name) : new StoreUnavailableError("sessions.db", "it was replaced");
      },
    });
    const said = async (name: string) => {
      const answer = await fetch(`${server.address}${name}`);
      return [answer.status, await answer.text()] as const;
    };
    expect(await said("gone")).toEqual([404, "There is nothing here.\n"]);
    expect(await said("replaced")).toEqual([503, "Cannot open sessions.db: it was replaced.\n"]);
    server.close();
    await server.ended;
  });

  test("has the same port for the same name, unless it is taken", async () => {
    const start = () => PageServer.start({ port: 0, name: `a store ${process.pid}`, idleMs: 0, answer: async () => undefined });
    const first = await start();
    const { port } = new URL(first.address);
    const second = await start();
    expect(new URL(second.address).port).not.toBe(port);
    first.close();
    await first.ended;
    const third = await start();
    expect(new URL(third.address).port).toBe(port);
    for (const server of [second, third]) server.close();
  });

  test("cuts a page off whose reading fails, and goes on", async () => {
    const server = await PageServer.start({
      port: 0,
      idleMs: 0,
      answer: async ({ path }) => page(path[0] === "bad" ? failing() : pieces()),
    });
    await expect(fetch(`${server.address}bad`).then((answer) => answer.text())).rejects.toThrow();
    expect(await (await fetch(server.address)).text()).toBe("<p>one</p>");
    server.close();
    await server.ended;
  });
});

async function* failing(): AsyncGenerator<string> {
  yield "<p>";
  throw new Error("damaged");
}
