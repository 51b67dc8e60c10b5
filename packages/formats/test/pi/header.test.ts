import { describe, expect, test } from "vitest";
import { fileOf, HEADER, sessionIn } from "./pi-files.js";

const UUID = "019e19b4-eb48-746a-aa6b-8dfcfa37954b";

function headerOf(...records: readonly unknown[]) {
  return sessionIn(fileOf(records)).header;
}

describe("the header of a session", () => {
  test("carries id, time and working directory, and keeps what we do not know", () => {
    expect(headerOf({ ...HEADER, additionalDirectories: ["/other"] })).toEqual({
      sessionId: "s1",
      createdAtMs: Date.parse(HEADER.timestamp),
      cwd: "/project",
      title: undefined,
      kind: "conversation",
      parent: undefined,
      metadata: { version: 3, additionalDirectories: ["/other"] },
    });
  });

  test("takes oh-my-pi's title line for the title, which is newer than the header's", () => {
    expect(headerOf({ type: "title", v: 1, title: "Now" }, { ...HEADER, title: "Then" }).title).toBe("Now");
    expect(headerOf({ type: "title", v: 1, title: "" }, { ...HEADER, title: "Then" }).title).toBe("Then");
  });

  test("gives an id that could not name a session one that is the same each time", () => {
    const [first, second] = [headerOf({ ...HEADER, id: "with spaces" }), headerOf({ ...HEADER, id: "with spaces" })];
    expect(first.sessionId).toMatch(/^[0-9a-z]{12}$/);
    expect(second.sessionId).toBe(first.sessionId);
  });
});

describe("the session it was forked from", () => {
  test.each([
    ["a path", { parentSession: `/sessions/--x--/2026-05-12T01-02-27-657Z_${UUID}.jsonl` }, UUID],
    ["a path on Windows", { parentSession: `C:\\s\\2026-05-12T01-02-27-657Z_my_id.jsonl` }, "my_id"],
    ["the path of a copy", { parentSession: `/s/2026-05-12T01-02-27-657Z_${UUID}-2.jsonl` }, UUID],
    ["an id, as oh-my-pi writes it", { parentSession: UUID }, UUID],
    ["version 1's branchedFrom", { branchedFrom: `/s/2025-12-09T00-53-29-825Z_${UUID}.jsonl` }, UUID],
  ])("is found from %s", (_, fields, sessionId) => {
    expect(headerOf({ ...HEADER, ...fields }).parent).toEqual({ sessionId });
  });
});
