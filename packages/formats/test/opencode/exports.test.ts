import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { grow } from "../../../session-core/test/world/grow.js";
import { collected, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { exportOpencode } from "../../src/transfer/export.js";
import { importPath } from "../../src/transfer/import-path.js";

interface Exported {
  readonly info: { readonly id: string; readonly title: string };
  readonly messages: readonly { readonly info: Record<string, unknown>; readonly parts: readonly Record<string, unknown>[] }[];
}

async function exported(session: Session): Promise<Exported> {
  return JSON.parse((await collected(exportOpencode(session))).join("")) as Exported;
}

async function fileOf(session: Session): Promise<string> {
  const file = join(tempFolder(), "session.json");
  writeFileSync(file, (await collected(exportOpencode(session))).join(""));
  return file;
}

describe("a branch as a session file of opencode", () => {
  test("has the members that opencode asks for, ids in order, and results in the calls of their reply", async () => {
    const { session } = await grow("u1 k1:call1 r1:call1 a1", { session: { cwd: "/p", title: "Parser" } });
    const { info, messages } = await exported(session);
    expect(info).toMatchObject({
      id: expect.stringMatching(/^ses/),
      title: "Parser",
      directory: "/p",
      time: { created: expect.any(Number) },
    });
    expect(messages.map((message) => message.info["role"])).toEqual(["user", "assistant", "assistant"]);
    const ids = messages.flatMap((message) => [
      String(message.info["id"]),
      ...message.parts.map(({ id }) => String(id).replace("prt", "msg")),
    ]);
    expect(ids).toEqual([...ids].sort());
    expect(messages[1]?.info).toMatchObject({ parentID: messages[0]?.info["id"], path: { cwd: "/p" }, tokens: { cache: { read: 0 } } });
    expect(messages[1]?.parts.map(({ type }) => type)).toContain("tool");
    expect(messages[1]?.parts.find(({ type }) => type === "tool")).toMatchObject({ state: { status: "completed", output: "r1" } });
  });

  test("a call without a result is one that still waits, and the model of a reply is that of its prompt", async () => {
    const { session } = await grow("u1 k1:call1");
    const { messages } = await exported(session);
    expect(messages[1]?.parts.find(({ type }) => type === "tool")).toMatchObject({ state: { status: "pending" } });
    const { modelID, providerID } = messages[1]?.info ?? {};
    expect(messages[0]?.info["model"]).toEqual({ providerID, modelID });
  });

  test("a compaction is a prompt with the first message that it keeps, and the reply with its summary", async () => {
    const { session } = await grow("u1 a1 u2 a2 c1:u2 u3");
    const { messages } = await exported(session);
    const at = messages.findIndex(({ parts }) => parts.some(({ type }) => type === "compaction"));
    expect(messages[at]?.parts).toMatchObject([{ type: "compaction", tail_start_id: messages[2]?.info["id"] }]);
    expect(messages[at + 1]?.info).toMatchObject({ summary: true, finish: "stop", parentID: messages[at]?.info["id"] });
  });

  test("is read back with the ids of its entries, and exported again adds nothing", async () => {
    const { session } = await grow("u1 k1:call1 r1:call1 a1 c1:k1 u2", { session: { id: "ses_parser" } });
    const file = await fileOf(session);
    const store = await openedStore();
    await importPath(store, file);
    const ids = async (of: Session) => (await of.path()).map(({ id }) => id);
    const read = await store.openSession("ses_parser");
    expect(await ids(read)).toEqual(await ids(session));
    const again = await importPath(store, await fileOf(read));
    expect(again.sessions).toMatchObject([{ sessionId: "ses_parser", format: "opencode", entriesAdded: 0, problems: [] }]);
  });
});
