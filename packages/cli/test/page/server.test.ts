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
      idleMs: 20,
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
    await (await PageServer.start({ port: 0, idleMs: 40, answer: async () => undefined })).ended;
    expect(ended).toBe(false);
    release();
    expect(await (await answer).text()).toBe("<p>one</p>");
    await server.ended;
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
