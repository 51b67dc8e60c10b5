import { nativeCompactionOf } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { collected, openedStore } from "../../../session-core/test/world/stores.js";
import { exportBough } from "../../src/transfer/export.js";
import { importPath } from "../../src/transfer/import-path.js";
import { fileOf } from "../world/sources.js";

// Put together at run time, so that no scanner takes it for a real one.
const KEY = `ghp_${"Ab1".repeat(12)}`;

/** A session whose compaction has this block, exported, and imported into another store. */
async function exported(content: string, secrets?: "keep") {
  const store = await openedStore();
  const session = await store.createSession();
  await session.append({ type: "message", message: { role: "user", content: "hello" } });
  const items = [{ type: "compaction", content, signature: "EqQB==", tool_changes: [] }];
  const native = { provider: "anthropic", model: "claude-opus-5-5", items, readable: true };
  await session.append({ type: "compaction", summary: content, firstKeptEntryId: null, details: { readFiles: ["a.ts"], native } });
  const lines = (await collected(exportBough(session, secrets === undefined ? {} : { secrets }))).join("").trimEnd().split("\n");
  const target = await openedStore();
  const { sessions } = await importPath(target, fileOf([...lines, ""], "s.jsonl"));
  const { compaction } = await (await target.openSession(sessions[0]?.sessionId ?? "")).context();
  return { payload: compaction?.payload, native, items };
}

describe("an export of a session that its provider compacted", () => {
  test("has the provider's block byte for byte", async () => {
    const { payload, native } = await exported("They fixed the parser.");
    expect(payload?.details).toEqual({ readFiles: ["a.ts"], native });
  });

  test("leaves out a block that a mask would change, and masks the summary", async () => {
    const { payload } = await exported(`The token is ${KEY}.`);
    expect(nativeCompactionOf(payload ?? {})).toBeUndefined();
    expect(payload?.details).toEqual({ readFiles: ["a.ts"] });
    expect(payload?.summary).not.toContain(KEY);
  });

  test("keeps it where secrets are kept", async () => {
    const { payload, items } = await exported(`The token is ${KEY}.`, "keep");
    expect(nativeCompactionOf(payload ?? {})?.items).toEqual(items);
  });
});
