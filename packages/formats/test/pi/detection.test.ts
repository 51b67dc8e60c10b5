import { describe, expect, test } from "vitest";
import { UnknownFormatError, UnknownFormatVersionError } from "../../src/errors.js";
import { piFormat } from "../../src/pi/format.js";
import { headOf } from "../file-head.js";
import { fileOf, HEADER, user } from "./pi-files.js";

const SLOT = { type: "title", v: 1, title: "", updatedAt: "2026-01-02T03:04:05.006Z", pad: "  " };

function detects(...records: readonly Record<string, unknown>[]): boolean {
  return piFormat.detects(headOf(records));
}

describe("a pi session is recognised", () => {
  test.each([
    ["by its header, whatever the version", [{ type: "session", id: "x" }]],
    ["with oh-my-pi's title line before the header", [SLOT, HEADER]],
    ["with a message before the header", [user("a", null), HEADER]],
    ["of the agent harness, so that it can be refused by version", [{ kind: "header", version: 4, id: "x" }]],
    ["of the agent harness's second revision", [{ v: 4, kind: "header", id: "x", storageVersion: 1 }]],
  ])("%s", (_, records) => {
    expect(detects(...records)).toBe(true);
  });

  test.each([
    ["a Claude Code line", [{ type: "user", sessionId: "x", uuid: "u", parentUuid: null, message: {} }]],
    ["a Copilot line", [{ type: "session.start", id: "x", parentId: null, data: {} }]],
    ["a Codex line", [{ type: "session_meta", payload: { id: "x" } }]],
    ["a header without an id", [{ type: "session", version: 3 }]],
    ["a title line alone", [SLOT]],
    ["a message alone", [user("a", null)]],
    ["an empty file", []],
  ])("but not %s", (_, records) => {
    expect(detects(...records)).toBe(false);
  });
});

describe("a version that is not known is refused before anything is read", () => {
  test.each([
    ["a later number", { ...HEADER, version: 99 }, 99],
    ["a version that is no number", { ...HEADER, version: "next" }, 4],
    ["the agent harness", { kind: "header", version: 4, id: "x" }, 4],
    ["the agent harness's second revision", { v: 4, kind: "header", id: "x", storageVersion: 1 }, 4],
  ])("%s", (_, header, version) => {
    const path = fileOf([header]);
    expect(() => piFormat.sessions(path)).toThrow(new UnknownFormatVersionError(path, "pi", version, 3));
  });

  test("and so is a file without a header", () => {
    const path = fileOf(["no JSON"]);
    expect(() => piFormat.sessions(path)).toThrow(new UnknownFormatError(path, "it has no header"));
  });
});
