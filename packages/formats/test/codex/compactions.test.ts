import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Session, type Store, toOpenAiResponses } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { grow } from "../../../session-core/test/world/grow.js";
import { collected, findingsOf, openedStore } from "../../../session-core/test/world/stores.js";
import { exportCodex } from "../../src/transfer/export.js";
import { importPath } from "../../src/transfer/import-path.js";
import { fileOf } from "../world/sources.js";
import { event, line, message, meta, rollback, turnContext } from "./rollout.js";

/** A rollout of Codex 0.169 with two prompts, each followed by an automatic compaction, then two more compactions and a third prompt. */
const RECORDED = readFileSync(join(import.meta.dirname, "../fixtures/codex-compactions.jsonl"), "utf8")
  .trimEnd()
  .split("\n");

async function importedFrom(lines: readonly (string | object)[], store?: Store): Promise<Session> {
  const target = store ?? (await openedStore());
  const { sessions } = await importPath(target, fileOf([...lines, ""], "r.jsonl"));
  expect(await findingsOf(target)).toEqual([]);
  return target.openSession(sessions[0]?.sessionId ?? "");
}

/** The messages of the context: for each its role, or the first word of its text. */
async function contextOf(session: Session, leafId?: string): Promise<string> {
  const { messages } = await session.context({ leafId });
  return messages.map((sent) => wordFor(sent.role, JSON.stringify(sent))).join(" ");
}

function wordFor(role: string, json: string): string {
  const [said] = /ALPHA|BETA|GAMMA|environment_context|skills_instructions|checking/.exec(json) ?? [];
  return role === "assistant" || role === "toolResult" || role === "compactionSummary" ? role : (said ?? role);
}

const item = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });
const OPENING = "Another language model started to solve this problem and produced a summary of its work:\n";
const compacted = (summary: string, list: readonly object[]) =>
  line("compacted", { message: OPENING + summary, replacement_history: [...list, item("user", OPENING + summary)] });

describe("the context after a compaction of Codex", () => {
  test("is the one that Codex sends: what it kept in its order, then the summary", async () => {
    const session = await importedFrom(RECORDED);
    expect(await contextOf(session)).toBe("ALPHA skills_instructions environment_context BETA compactionSummary GAMMA assistant");
    const entries = await collected(session.walk());
    const last = entries.findLast(({ type }) => type === "compaction");
    expect(last).toMatchObject({ keptEntryIds: [expect.any(String), expect.any(String), expect.any(String), expect.any(String), null] });
    // Of four compactions, none is also a reply.
    expect(entries.filter(({ type }) => type === "compaction")).toHaveLength(4);
    expect(entries.filter((entry) => entry.type === "message" && JSON.stringify(entry).includes("CONTEXT CHECKPOINT"))).toEqual([]);
  });

  test("is the same at each earlier compaction, after an export, and in the store after a second import", async () => {
    const store = await openedStore();
    const session = await importedFrom(RECORDED, store);
    const compactions = (await collected(session.walk())).filter(({ type }) => type === "compaction").map(({ id }) => id);
    const contexts = await Promise.all(compactions.map((id) => contextOf(session, id)));
    expect(contexts).toEqual([
      "skills_instructions environment_context ALPHA compactionSummary",
      "skills_instructions environment_context ALPHA compactionSummary",
      "ALPHA skills_instructions environment_context BETA compactionSummary",
      "ALPHA skills_instructions environment_context BETA compactionSummary",
    ]);
    const back = await importedFrom((await collected(exportCodex(session))).map((piece) => piece.trim()));
    expect(await contextOf(back)).toBe(await contextOf(session));
    await importedFrom(RECORDED, store);
    expect(await collected(session.walk())).toHaveLength((await collected(back.walk())).length);
  });

  test("has items of the list that no entry has, as entries above the compaction", async () => {
    const lines = [meta(), message("user", "ALPHA"), message("assistant", "hm"), event("task_complete")];
    const session = await importedFrom([
      ...lines,
      compacted("s", [item("user", "ALPHA"), item("developer", "checking")]),
      message("user", "BETA"),
    ]);
    expect(await contextOf(session)).toBe("ALPHA checking compactionSummary BETA");
  });

  test("keeps each of two equal prompts, and none of a turn that was taken back", async () => {
    const turns = [
      message("user", "ALPHA"),
      message("assistant", "a"),
      message("user", "ALPHA"),
      message("assistant", "b"),
      event("task_complete"),
    ];
    const twice = await importedFrom([meta(), ...turns, compacted("s", [item("user", "ALPHA"), item("user", "ALPHA")])]);
    expect(await contextOf(twice)).toBe("ALPHA ALPHA compactionSummary");
    expect(new Set((await twice.context()).entries).size).toBe(3);
    const back = await importedFrom([
      meta(),
      ...turns,
      rollback(1),
      message("user", "BETA"),
      compacted("s", [item("user", "ALPHA"), item("user", "BETA")]),
    ]);
    expect(await contextOf(back)).toBe("ALPHA BETA compactionSummary");
  });

  test("leaves out what it replaced also if a later compaction starts before it", async () => {
    const lines = [message("user", "ALPHA"), message("assistant", "hm"), message("user", "BETA"), event("task_complete")];
    const session = await importedFrom([meta(), ...lines, compacted("s", [item("user", "ALPHA"), item("user", "BETA")])]);
    const [first = ""] = (await session.context()).entries;
    await session.append({ type: "compaction", summary: "later", firstKeptEntryId: first });
    expect(await contextOf(session)).toBe("compactionSummary ALPHA BETA");
  });
});

test("a reply to the user with the text of the summary below it stays a reply, in a rollout and after an import of the rollout", async () => {
  const { session } = await grow("u1 a1");
  await session.append({ type: "compaction", summary: "a1", firstKeptEntryId: null });
  const back = await importedFrom((await collected(exportCodex(session))).map((piece) => piece.trim()));
  expect((await collected(back.walk())).map(({ type }) => type)).toEqual(["message", "message", "compaction"]);
});

test("a compaction that kept the end of a conversation keeps it in a rollout and after an import of the rollout", async () => {
  const { session } = await grow("u1 a1 u2 a2 u3 a3");
  const third = (await collected(session.walk())).at(3);
  await session.append({ type: "compaction", summary: "we talked", firstKeptEntryId: third?.id ?? "" });
  const back = await importedFrom((await collected(exportCodex(session))).map((piece) => piece.trim()));
  const said = async (one: Session) =>
    (await one.context()).messages.map((sent) => [sent.role, "content" in sent ? JSON.stringify(sent.content).match(/[au]\d/)?.[0] : ""]);
  expect(await said(back)).toEqual(await said(session));
  expect((await back.context()).compaction?.payload).toMatchObject({ firstKeptEntryId: expect.any(String) });
  expect((await back.context()).compaction?.payload.keptEntryIds).toBeUndefined();
});

test("a compaction that kept single entries keeps these in a rollout, in their order, and a later one none that it replaced", async () => {
  const { session } = await grow("u1 a1 u2 a2 u3 a3");
  await session.append({ type: "compaction", summary: "we talked", firstKeptEntryId: "u1", keptEntryIds: ["u2", "u1", null, "a3"] });
  const said = async (one: Session) =>
    (await one.context()).messages.map((sent) =>
      sent.role === "compactionSummary" ? "summary" : JSON.stringify(sent).match(/[au]\d/)?.[0],
    );
  const exported = async () => importedFrom((await collected(exportCodex(session))).map((piece) => piece.trim()));
  expect(await said(await exported())).toEqual(["u2", "u1", "summary", "a3"]);
  await session.append({ type: "compaction", summary: "again", firstKeptEntryId: "u1" });
  expect(await said(await exported())).toEqual(await said(session));
});

describe("a compaction of Codex that OpenAI encrypted", () => {
  const sealed = { type: "compaction", encrypted_content: "gAAAAencrypted" };
  const lines = [
    meta(),
    turnContext(),
    message("user", "ALPHA"),
    message("assistant", "checking"),
    line("compacted", { message: "", replacement_history: [item("user", "ALPHA"), sealed] }),
    message("user", "BETA"),
  ];

  test("is a compaction entry with the item unchanged, which goes to OpenAI behind what Codex kept", async () => {
    const session = await importedFrom(lines);
    expect(await contextOf(session)).toBe("ALPHA compactionSummary BETA");
    const { compaction } = await session.context();
    const native = { provider: "openai", model: "gpt-5.2", items: [sealed], readable: false };
    expect(compaction?.payload).toMatchObject({ details: { native }, summary: expect.stringContaining("only openai can read it") });
    const { input } = toOpenAiResponses(await session.context());
    expect(input.map(({ type }) => type)).toEqual(["message", "compaction", "message"]);
    expect(input[1]).toEqual(sealed);
  });

  test("is written as it was, and is the same after another import", async () => {
    const session = await importedFrom(lines);
    const written = (await collected(exportCodex(session))).join("").trimEnd().split("\n");
    const record = written.map((text) => JSON.parse(text)).find(({ type }) => type === "compacted");
    expect(record.payload).toEqual({ message: "", replacement_history: [item("user", "ALPHA"), sealed] });
    const again = await importedFrom(written);
    expect((await again.context()).compaction?.payload.details).toEqual((await session.context()).compaction?.payload.details);
  });
});
