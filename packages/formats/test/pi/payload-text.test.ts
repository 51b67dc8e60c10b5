import { describe, expect, test } from "vitest";
import { findingsOf, openedStore } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/index.js";
import { at, entriesOf, fileOf, HEADER, recordsOf } from "./pi-files.js";

const LINE = JSON.stringify(messageRecord("a", { role: "user", content: "é \u001b[0m 😀", other: 1.5 }));

function messageRecord(id: string, message: Record<string, unknown>): Record<string, unknown> {
  return { type: "message", id, parentId: null, timestamp: "2026-01-02T03:04:06.000Z", message };
}

const SPELLINGS: readonly (readonly [spelling: string, line: string, isKept: boolean])[] = [
  ["as pi writes it", LINE, true],
  ["with spaces between members", LINE.replaceAll('","', '", "'), false],
  ["with a space at its end", `${LINE} `, false],
  ["with another member at its end", `${LINE.slice(0, -1)},"usage":{"input":1}}`, false],
  ["with another order of members", JSON.stringify({ ...at("a", null, {}), ...messageRecord("a", { role: "user", content: "x" }) }), false],
  ["with a member that is left out", LINE.replace('"other":1.5', '"partialJson":"{"'), false],
  ["with a content that is converted", LINE.replace(/"content":"[^"]*"/, '"content":[{"type":"video"}]'), false],
  ["with escaped letters", LINE.replace("é", "\\u00e9"), true],
  ["with a message that is repeated", LINE.replace('"message":', '"message":{"role":"user","content":"first"},"message":'), true],
  ["with an id that is repeated at its end", `${LINE.slice(0, -1)},"id":"a"}`, false],
  ["with a number in another notation", LINE.replace("1.5", "15e-1"), true],
];

describe("the text of a message", () => {
  test.each(SPELLINGS)("of a line %s means what its payload is", (_spelling, line, isKept) => {
    const [entry] = entriesOf(recordsOf([line]));
    expect(entry?.payloadJson !== undefined).toBe(isKept);
    if (entry?.payloadJson === undefined) return;
    expect({ type: "message", ...JSON.parse(entry.payloadJson) }).toEqual(entry.payload);
  });

  test.each(SPELLINGS)("of a line %s is stored once, whatever it is compared with", async (_spelling, line) => {
    const store = await openedStore();
    const { sessions } = await importPath(store, fileOf([HEADER, line]));
    const session = await store.openSession(sessions[0]?.sessionId ?? "");
    const [first] = await session.path();
    const respelled = JSON.stringify({ ...JSON.parse(line), parentId: null });
    for (const again of [line, respelled, JSON.stringify(JSON.parse(line), null, 1).replaceAll("\n", "")]) {
      expect((await importPath(store, fileOf([HEADER, again]))).sessions).toMatchObject([{ outcome: "unchanged", entriesKnown: 1 }]);
    }
    expect(await session.path()).toEqual([first]);
    expect(await findingsOf(store)).toEqual([]);
  });
});
