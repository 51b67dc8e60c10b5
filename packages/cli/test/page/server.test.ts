import { describe, expect, test } from "vitest";
import { PageServer } from "../../src/page/server.js";

async function* pieces(): AsyncGenerator<string> {
  yield "<p>one";
  yield "</p>";
}

describe("the server of pages", () => {
  test("ends when nobody asks for a page during the idle time", async () => {
    const server = await PageServer.start({ port: 0, idleMs: 1, page: async () => pieces() });
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
      idleMs: 20,
      page: async () => {
        await gate;
        return pieces();
      },
    });
    void server.ended.then(() => {
      ended = true;
    });
    const answer = fetch(server.address);
    // Another server that nobody asks ends after the same time.
    await (await PageServer.start({ port: 0, idleMs: 40, page: async () => undefined })).ended;
    expect(ended).toBe(false);
    release();
    expect(await (await answer).text()).toBe("<p>one</p>");
    await server.ended;
  });

  test("cuts a page off whose reading fails, and goes on", async () => {
    const server = await PageServer.start({
      port: 0,
      idleMs: 0,
      page: async (path) => (path === "bad" ? failing() : pieces()),
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
