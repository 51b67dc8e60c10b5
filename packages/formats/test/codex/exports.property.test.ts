import type { EntryInput, Session } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { collected, openedStore } from "../../../session-core/test/world/stores.js";
import { exportCodex } from "../../src/transfer/export.js";
import { importPath } from "../../src/transfer/import-path.js";
import { fileOf } from "../world/sources.js";
import { call, EVERYTHING, line, message, meta, output, THREAD, turnContext } from "./rollout.js";

const user = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;
const reply = (content: readonly object[], more: object = {}) => ({ type: "message", message: { role: "assistant", content, ...more } });
const toolCall = (id: string, name = "Bash") => ({ type: "toolCall", id, name, arguments: { command: "ls" } });
const result = (toolCallId: string, content: string) => ({
  type: "message",
  message: { role: "toolResult", toolCallId, content, isError: false },
});

/** A session of Bough with these entries, each below the one before it. */
async function grown(entries: readonly object[]): Promise<Session> {
  const session = await (await openedStore()).createSession({ cwd: "/home/ada/parser" });
  for (const entry of entries) await session.append(entry as EntryInput);
  return session;
}

/** The session of a rollout. */
async function importedFrom(lines: readonly (string | object)[]): Promise<Session> {
  const store = await openedStore();
  const { sessions } = await importPath(store, fileOf([...lines, ""], "r.jsonl"));
  return store.openSession(sessions[0]?.sessionId ?? "");
}

async function linesOf(session: Session, options = {}): Promise<readonly Record<string, unknown>[]> {
  const pieces = await collected(exportCodex(session, options));
  return pieces.map((piece) => JSON.parse(piece));
}

const readBack = async (session: Session) => importedFrom(await linesOf(session));

/** The payloads on the path of the leaf. */
async function branchOf(session: Session): Promise<readonly Record<string, unknown>[]> {
  const entries = await collected(session.walk());
  return entries.map(({ id: _id, seq: _seq, parentId: _parentId, createdAtMs: _createdAtMs, ...payload }) => payload);
}

/** Without what docs/formats/codex.md names: what events said of calls, and settings that were written again after a rollback. */
function withoutLosses(payloads: readonly Record<string, unknown>[]): readonly unknown[] {
  const last = new Map<unknown, string>();
  return payloads.flatMap((payload) => {
    const { role, details, isError: _isError, ...said } = (payload["message"] ?? {}) as Record<string, Record<string, unknown> | undefined>;
    if (String(role) === "toolResult") return [{ ...said, metadata: details?.["metadata"] }];
    const text = JSON.stringify(payload);
    const isRepeated = payload["type"] !== "message" && last.get(payload["type"]) === text;
    last.set(payload["type"], text);
    return isRepeated ? [] : [payload];
  });
}

/** What the model reads of the items of a rollout. */
function spoken(lines: readonly Record<string, unknown>[]): readonly string[] {
  return lines.flatMap(({ type, payload }) => (type === "response_item" ? [textOf(payload)] : []));
}

function textOf(item: unknown): string {
  const { type, role, name, content, output: result, arguments: args } = item as Record<string, never>;
  return [type === "message" ? role : type, name ?? "", JSON.stringify(content ?? result ?? args ?? "")].join(" ");
}

describe("a rollout that is exported", () => {
  test("of a session of Codex gives the same branch again, except what docs/formats/codex.md names", async () => {
    const session = await importedFrom(EVERYTHING);
    const again = await readBack(session);
    expect(withoutLosses(await branchOf(again))).toEqual(withoutLosses(await branchOf(session)));
    expect([again.id, (await again.record()).title, (await again.record()).metadata]).toEqual([
      THREAD,
      "Parser",
      { ...(await session.record()).metadata, originator: "codex_cli_rs" },
    ]);
  });

  test("does not refer to the files in which Codex keeps the earlier part of the session", async () => {
    const base = { history_base: { thread_id: "01a20a6c-5bfb-7e32-93ab-8c72e28a18af", end_ordinal_exclusive: 41, end_byte_offset: 9000 } };
    const parts = { history_mode: "paginated", forked_from_ordinal_exclusive: 41, multi_agent_version: "v1" };
    const session = await importedFrom([meta({ ...parts, ...base }), turnContext(), message("user", "Why?"), message("assistant", "So.")]);
    const [first] = await linesOf(session);
    const payload = first?.["payload"] as object;
    expect(Object.keys(payload).filter((name) => name in { ...parts, ...base })).toEqual(["multi_agent_version"]);
  });

  test("has the items that the file of Codex has for the model", async () => {
    const lines = EVERYTHING.filter(({ type }) => type === "response_item");
    const exported = await linesOf(await importedFrom(EVERYTHING));
    const taken = spoken(lines.filter((_, at) => at < lines.findIndex((record) => JSON.stringify(record).includes("Wrong, try again"))));
    expect(spoken(exported).slice(0, taken.length)).toEqual(taken);
  });

  test("keeps encrypted reasoning, and leaves out that of other providers, which Codex cannot send", async () => {
    const openai = { itemId: "rs_1", reasoningEncryptedContent: "sealed" };
    const session = await grown([
      user("u"),
      reply([
        { type: "thinking", thinking: "a", providerOptions: { openai } },
        { type: "text", text: "x" },
      ]),
      reply([
        { type: "thinking", thinking: "b", thinkingSignature: "theirs" },
        { type: "text", text: "y" },
      ]),
    ]);
    const lines = await linesOf(session);
    const reasonings = lines.filter(({ payload }) => JSON.stringify(payload).includes('"type":"reasoning"'));
    expect(reasonings.map(({ payload }) => payload)).toEqual([
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "a" }], encrypted_content: "sealed" },
    ]);
    expect(JSON.stringify(lines)).toContain('{"type":"agent_reasoning","text":"b"}');
  });

  test("replaces what a compaction of another program summarized by the summary and the entries that it kept", async () => {
    const session = await grown([
      user("u1"),
      reply([{ type: "text", text: "a1" }]),
      { ...user("u2"), id: "u2" },
      reply([{ type: "text", text: "a2" }]),
    ]);
    await session.append({ type: "compaction", summary: "we talked", firstKeptEntryId: "u2" });
    await session.append(user("u3"));
    const compacted = (await linesOf(session)).find(({ type }) => type === "compacted")?.["payload"];
    const { message: summary, replacement_history: list } = compacted as { message: string; replacement_history: object[] };
    expect(summary).toBe("we talked");
    expect(list.map(textOf).map((text) => text.replace(/^(\w+) .*?"text":"(.*)"}]$/, "$1: $2"))).toEqual([
      expect.stringMatching(/^user: The conversation history .*we talked/),
      "user: u2",
      "assistant: a2",
    ]);
  });

  test("lets an early version of Codex rebuild its own list", async () => {
    const opening = "Another language model started to solve this problem and produced a summary of it:\n";
    const session = await importedFrom([
      meta(),
      message("user", "u"),
      line("compacted", { message: `${opening}done` }),
      message("user", "v"),
    ]);
    expect((await branchOf(session)).find(({ type }) => type === "compaction")).toMatchObject({ summary: "done" });
    expect((await linesOf(session)).find(({ type }) => type === "compacted")?.["payload"]).toEqual({ message: `${opening}done` });
  });

  test("applies edits, and has calls of tools of Codex, or texts where it has none, if Codex goes on", async () => {
    const session = await grown([
      user("u"),
      { ...user("secret"), id: "s" },
      reply([toolCall("c1", "Skill"), toolCall("c2")]),
      result("c1", "out"),
      result("c2", "no"),
    ]);
    await session.append({ type: "context_edit", targetId: "s", replacement: null });
    expect(JSON.stringify(await linesOf(session))).not.toContain("secret");
    const sessionId = "0199a0f1-3333-7000-8000-000000000003";
    const lines = await linesOf(session, { continues: { sessionId, cwd: "/home/ada/other" } });
    // Codex refuses a file that names an id of another form.
    const meta = { id: sessionId, cwd: "/home/ada/other", originator: "bough", bough_forked_from: session.id };
    expect(lines[0]?.["payload"]).toMatchObject(meta);
    expect(lines[0]?.["payload"]).not.toHaveProperty("forked_from_id");
    expect(spoken(lines).map((text) => text.split(" ", 2).join(" "))).toEqual([
      "user ",
      "assistant ",
      "function_call exec_command",
      "user ",
      "function_call_output ",
    ]);
  });

  test("has a model of OpenAI in its turns, and none of another provider, which Codex could not ask", async () => {
    const modelsOf = async (provider: string) => {
      const session = await grown([{ type: "model_change", provider, modelId: "m" }, user("u")]);
      return (await linesOf(session))
        .filter(({ type }) => type === "turn_context")
        .map(({ payload }) => (payload as { model: string }).model);
    };
    expect([await modelsOf("openai"), await modelsOf("anthropic")]).toEqual([["m"], []]);
  });

  test("of one branch ends at its entry", async () => {
    const session = await importedFrom([meta(), message("user", "u1"), message("assistant", "a1"), message("user", "u2")]);
    const first = (await collected(session.walk())).find((entry) => JSON.stringify(entry).includes("a1"));
    expect(spoken(await linesOf(session, { branch: first?.id }))).toHaveLength(2);
  });

  test("of any conversation is read back with the same prompts, replies, calls and results in the same order", async () => {
    const text = fc.string({ minLength: 1 }).filter((value) => !value.startsWith("<") && !/^\s|^#/.test(value));
    const turn = fc.record({ prompt: text, answer: text, calls: fc.array(text, { maxLength: 3 }), outputs: text });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const entries = turns.flatMap(({ prompt, answer, calls, outputs }, at) => [
          user(prompt),
          ...(calls.length === 0 ? [] : [reply(calls.map((_, nth) => toolCall(`call_${at}_${nth}`)))]),
          ...calls.map((_, nth) => result(`call_${at}_${nth}`, outputs)),
          reply([{ type: "text", text: answer }], { usage: { input: 10, output: at, cacheRead: 5, totalTokens: 15 + at } }),
        ]);
        const session = await grown(entries);
        const lines = await linesOf(session);
        expect(spoken(await linesOf(await importedFrom(lines)))).toEqual(spoken(lines));
        expect(await talk(await importedFrom(lines))).toEqual(await talk(session));
      }),
      { numRuns: runs(30) },
    );
  });
});

/** The role, the text, the calls and the usage of each message of a branch. */
async function talk(session: Session): Promise<readonly unknown[]> {
  return (await branchOf(session)).flatMap(({ message: said }) => {
    if (said === undefined) return [];
    const { role, content, usage } = said as {
      role: string;
      content: string | readonly Record<string, unknown>[];
      usage?: { totalTokens?: number };
    };
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return [[role, blocks.map((block) => [block.type, block["text"] ?? block["id"]]), usage?.totalTokens]];
  });
}

test("a call and its output of a rollout keep their types", async () => {
  const lines = [
    ...[meta(), turnContext(), message("user", "u"), call("c", "shell", { command: ["ls"] })],
    output("c", '{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.5}}'),
  ];
  expect(spoken(await linesOf(await importedFrom(lines)))).toEqual(spoken(lines));
});
