import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readServerSentEvents } from "../../src/summarizers/http.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function eventsOf(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? bytes(chunk) : chunk);
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const data of readServerSentEvents(body)) events.push(data);
  return events;
}

describe("server-sent events", () => {
  test.each([
    ["end with an empty line", "data: a\n\ndata: b\n\n", ["a", "b"]],
    ["may use CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["may use CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
    ["need no space after the colon", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["join several data lines", "data: a\ndata: b\n\n", ["a\nb"]],
    ["may have an empty data line", "data\n\n", [""]],
    ["skip comments and other fields", ": keep-alive\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", ["a"]],
    ["skip a byte order mark", "\ufeffdata: a\n\n", ["a"]],
    ["are dropped when the body ends inside one", "data: a\n\ndata: b\n", ["a"]],
    ["are none in an empty body", "", []],
  ])("%s", async (_what, given, expected) => {
    expect(await eventsOf(given)).toEqual(expected);
  });

  test("are the same wherever the body is cut, inside a character and between CR and LF too", async () => {
    const text = "data: grüße 😀\r\n\r\n: c\r\rdata: b\ndata: c\n\ndata: d\r\n\r\n";
    const whole = bytes(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length)), async (places) => {
        const at = [0, ...places.toSorted((a, b) => a - b), whole.length];
        const chunks = at.slice(1).map((to, i) => whole.slice(at[i], to));
        expect(await eventsOf(...chunks)).toEqual(["grüße 😀", "b\nc", "d"]);
      }),
    );
  });
});
