import type { Entry, EntryPayload, Message } from "@bough/session-core";
import { validateEntry } from "@bough/session-core/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claudeLines } from "../../src/claude/write.js";
import { fileOf, SESSION } from "./claude-file.js";
import { type Imported, importAll } from "./imported.js";

const HEADER = { id: SESSION, cwd: "/home/ada/parser", title: null, titleSource: null, metadata: {} };
const AT = Date.UTC(2026, 0, 3);

/** A branch of these payloads, each entry below the one before it, with the ids `e0`, `e1`, … */
function branchOf(payloads: readonly unknown[]): readonly Entry[] {
  return payloads.map((payload, at) => ({
    id: `e${at}`,
    seq: at + 1,
    parentId: at === 0 ? null : `e${at - 1}`,
    createdAtMs: AT + at * 1000,
    ...validateEntry(payload).payload,
  }));
}

async function linesOf(entries: readonly Entry[], session: Partial<typeof HEADER> = {}, isNew = false) {
  const lines: Record<string, unknown>[] = [];
  for await (const line of claudeLines({ session: { ...HEADER, ...session }, entries, isNew })) lines.push(JSON.parse(line));
  return lines;
}

async function readBack(entries: readonly Entry[]): Promise<Imported> {
  const lines = await linesOf(entries);
  const [session] = lines.length === 0 ? [] : importAll(fileOf(lines));
  return (
    session ?? { header: { sessionId: SESSION, kind: "conversation" }, records: [], entries: [], problems: [], missing: [], leaf: null }
  );
}

const user = (content: unknown) => ({ type: "message", message: { role: "user", content } });
const reply = (content: readonly unknown[], fields: Record<string, unknown> = {}) => ({
  type: "message",
  message: {
    role: "assistant",
    content,
    provider: "anthropic",
    model: "claude-x",
    usage: { input: 1, output: 2 },
    responseId: "m",
    ...fields,
  },
});
const call = (id: string, name = "Bash") => ({ type: "toolCall", id, name, arguments: { command: "ls" } });
const result = (toolCallId: string, content: unknown = "done") => ({
  type: "message",
  message: { role: "toolResult", toolCallId, toolName: "Bash", content, isError: false },
});

describe("a transcript", () => {
  test("has one record for each entry, each below the one before it, with the session in it", async () => {
    const lines = await linesOf(branchOf([user("hi"), reply([{ type: "text", text: "hello" }])]));
    expect(lines.map(({ type, uuid, parentUuid, sessionId, cwd }) => [type, uuid, parentUuid, sessionId, cwd])).toEqual([
      ["user", "e0", null, SESSION, "/home/ada/parser"],
      ["assistant", "e1", "e0", SESSION, "/home/ada/parser"],
    ]);
  });

  test("has uuids if it is a new session, the same at each export", async () => {
    const entries = branchOf([user("hi"), reply([{ type: "text", text: "hello" }])]);
    const [first, second] = await linesOf(entries, {}, true);
    expect(first?.["uuid"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(second?.["parentUuid"]).toBe(first?.["uuid"]);
    expect(await linesOf(entries, {}, true)).toEqual([first, second]);
  });

  test("has another id for each reply of a program that gave all of them one", async () => {
    const [count, replies] = [60_000, branchOf([reply([])])];
    function* entries() {
      for (let at = 0; at < count; at += 1) yield* replies;
    }
    const ids = new Set<unknown>();
    // One second. Trying the numbers from 2 on for each of them takes five minutes.
    for await (const line of claudeLines({ session: HEADER, entries: entries(), isNew: false })) ids.add(JSON.parse(line).message.id);
    expect(ids.size).toBe(count);
  });

  test("ends with the title, as the user's or as the program's", async () => {
    const entries = branchOf([user("hi")]);
    const mine = await linesOf(entries, { ...{ title: "Tabs", titleSource: "user" } } as object);
    expect(mine.at(-1)).toEqual({ type: "custom-title", customTitle: "Tabs", sessionId: SESSION });
    const found = await linesOf(entries, { ...{ title: "Tabs", titleSource: "auto" } } as object);
    expect(found.at(-1)).toEqual({ type: "ai-title", aiTitle: "Tabs", sessionId: SESSION });
  });

  test("keeps the blocks of a compaction that Anthropic wrote in its boundary, byte for byte, and the next import has them", async () => {
    const block = {
      type: "compaction",
      content: "They fixed the parser.",
      signature: "EqQB==",
      tool_changes: [],
      later: { b: 1, a: [null] },
    };
    const native = { provider: "anthropic", model: "claude-opus-5-5", items: [block], readable: true };
    const compaction = { type: "compaction", summary: block.content, firstKeptEntryId: null, trigger: "manual", details: { native } };
    const entries = branchOf([user("a"), reply([{ type: "text", text: "b" }]), compaction, user("c")]);
    const lines = await linesOf(entries);
    const boundary = lines.find(({ subtype }) => subtype === "compact_boundary");
    expect(JSON.stringify(boundary?.["compactMetadata"])).toBe(JSON.stringify({ trigger: "manual", native }));
    expect(lines.find(({ isCompactSummary }) => isCompactSummary === true)).toMatchObject({ message: { content: block.content } });
    const again = (await readBack(entries)).entries.map(({ payload }) => payload);
    expect(again.filter(({ type }) => type === "compaction")).toEqual([
      expect.objectContaining({ summary: block.content, details: { native } }),
    ]);
  });

  test("puts the entries that a compaction kept behind its summary, in the way Claude Code reads them", async () => {
    const compaction = { type: "compaction", summary: "S", firstKeptEntryId: "e1", tokensBefore: 9, trigger: "threshold" };
    const lines = await linesOf(branchOf([user("a"), user("b"), reply([{ type: "text", text: "c" }]), compaction, user("d")]));
    const [, , , boundary, summary, after] = lines;
    expect(boundary).toMatchObject({ subtype: "compact_boundary", parentUuid: null, logicalParentUuid: "e2", uuid: "e3" });
    expect(boundary?.["compactMetadata"]).toEqual({
      trigger: "auto",
      preTokens: 9,
      preservedMessages: { anchorUuid: summary?.["uuid"], uuids: ["e1", "e2"] },
    });
    expect(summary).toMatchObject({ isCompactSummary: true, parentUuid: "e3", message: { content: "S" } });
    expect(after).toMatchObject({ parentUuid: summary?.["uuid"] });
  });

  test("has only blocks and members that the API takes", async () => {
    const content = [
      { type: "text", text: "t", textSignature: "s" },
      { type: "thinking", thinking: "unsigned" },
      { type: "thinking", thinking: "", thinkingSignature: "x", redacted: true },
      { type: "text", text: "" },
      { ...call("call.1", "my tool"), thoughtSignature: "s" },
    ];
    const [line, answer] = await linesOf(
      branchOf([reply(content), result("call.1", [{ type: "image", mimeType: "image/tiff", data: "aGk=" }])]),
    );
    expect(line?.["message"]).toMatchObject({
      content: [
        { type: "text", text: "t" },
        { type: "redacted_thinking", data: "x" },
        { type: "tool_use", id: expect.stringMatching(/^call_\w+$/), name: "my_tool", input: { command: "ls" } },
      ],
    });
    const made = JSON.stringify(line?.["message"]).match(/call_\w+/)?.[0];
    expect(answer?.["message"]).toMatchObject({ content: [{ tool_use_id: made, content: [{ type: "text", text: "[image/tiff]" }] }] });
    expect(JSON.stringify(line)).not.toMatch(/textSignature|thoughtSignature/);
  });

  test("never has one call id or message id twice, because Claude Code and the API tell calls and replies apart by them", async () => {
    const lines = await linesOf(branchOf([reply([call("c")]), result("c"), reply([call("c")]), result("c")]));
    const messages = lines.map(({ message }) => message as { id?: string; content: { id?: string; tool_use_id?: string }[] });
    expect(messages.map(({ id, content: [block] }) => [id, block?.id ?? block?.tool_use_id])).toEqual([
      ["m", "c"],
      [undefined, "c"],
      ["m_2", "c_2"],
      [undefined, "c_2"],
    ]);
  });

  test("has the thinking of Anthropic's models only: others' is not valid there", async () => {
    const thinking = { type: "thinking", thinking: "t", thinkingSignature: "s" };
    const [own, others] = await linesOf(branchOf([reply([thinking]), reply([thinking], { provider: "openai", model: "gpt-x" })]));
    expect(own?.["message"]).toMatchObject({ content: [{ type: "thinking", signature: "s" }] });
    expect(others?.["message"]).toMatchObject({ content: [], model: "gpt-x" });
  });
});

/** What an entry is after it was written and read; undefined: it is not written. This is the list of docs/formats/claude.md. */
function expected(payload: EntryPayload): unknown {
  switch (payload.type) {
    case "message":
      return expectedMessage(payload.message);
    case "branch_summary":
    case "custom_message":
      return { type: "message", message: { role: "custom", customType: "claude.meta", display: false, content: expect.anything() } };
    case "compaction": {
      const { summary, firstKeptEntryId, tokensBefore, trigger } = payload;
      const known = { ...(tokensBefore === undefined ? {} : { tokensBefore }), ...(trigger === undefined ? {} : { trigger }) };
      return { type: "compaction", summary, firstKeptEntryId, ...known };
    }
    case "model_change":
    case "thinking_level_change":
    case "custom":
    case "context_edit":
    case "foreign":
      return undefined;
  }
}

function expectedMessage(message: Message): unknown {
  switch (message.role) {
    case "system":
      return undefined;
    case "bashExecution":
    case "custom":
      return { type: "message", message: { role: "custom", customType: "claude.meta", display: false, content: expect.anything() } };
    case "assistant":
      return {
        type: "message",
        message: { ...message, content: message.content.filter(({ type }) => type !== "thinking"), responseId: expect.any(String) },
      };
    case "user":
    case "toolResult":
      return { type: "message", message };
  }
}

/** The importer keeps the list of kept records beside the first of them. */
function withoutKeptList(payload: EntryPayload): unknown {
  const { compactMetadata: _list, ...rest } = payload as Record<string, unknown>;
  return rest;
}

const text = fc.string({ minLength: 1, maxLength: 20 }).filter((word) => !/^\s*(?:<|\[Request|Caveat)/.test(word) && word.trim() !== "");
const blocks = fc.array(fc.record({ type: fc.constant("text"), text }), { minLength: 1, maxLength: 3 });

/** The next steps of a conversation: a prompt, a reply with its results, a summary, a setting. */
const steps = fc.array(
  fc.oneof(
    fc.oneof(text, blocks).map((content) => [user(content)]),
    fc.tuple(blocks, fc.nat({ max: 3 }), fc.uuid()).map(([said, calls, id]) => {
      const ids = Array.from({ length: calls }, (_, at) => `toolu_${id.slice(0, 8)}_${at}`);
      const thinking = { type: "thinking", thinking: "unsigned" };
      const stopReason = calls > 0 ? "toolUse" : "stop";
      return [
        reply([thinking, ...said, ...ids.map((callId) => call(callId))], { responseId: id, stopReason }),
        ...ids.map((callId) => result(callId)),
      ];
    }),
    fc
      .tuple(text, fc.option(fc.nat(), { nil: undefined }))
      .map(([summary, kept]) => [
        { type: "compaction", summary, firstKeptEntryId: kept === undefined ? null : `kept ${kept}`, tokensBefore: 7, trigger: "manual" },
      ]),
    text.map((summary) => [{ type: "branch_summary", summary, fromId: null }]),
    text.map((content) => [{ type: "custom_message", customType: "host", content }]),
    text.map((command) => [{ type: "message", message: { role: "bashExecution", command, output: "o" } }]),
    fc.constantFrom({ type: "model_change", modelId: "m" }, { type: "custom", customType: "x" }).map((payload) => [payload]),
  ),
  { maxLength: 8 },
);

/** The entries of the steps. A compaction keeps one of the prompts and replies since the last compaction. */
function conversation(taken: readonly (readonly Record<string, unknown>[])[]): readonly Entry[] {
  const starts: string[] = [];
  const payloads = taken.flat().map((payload, at) => {
    const message = payload["message"] as { role?: string } | undefined;
    if (message?.role === "user" || message?.role === "assistant") starts.push(`e${at}`);
    if (payload["type"] !== "compaction") return payload;
    const [, choice] = /^kept (\d+)$/.exec(String(payload["firstKeptEntryId"])) ?? [];
    const kept = choice === undefined ? null : (starts[Number(choice) % Math.max(starts.length, 1)] ?? null);
    starts.length = 0;
    return { ...payload, firstKeptEntryId: kept };
  });
  return branchOf(payloads);
}

describe("reading back what was written gives", () => {
  test("the same entries in the same order, up to the losses that the documentation names", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const entries = conversation(taken);
        const session = await readBack(entries);
        const kept = entries.flatMap((entry) => {
          const { id, seq: _seq, parentId: _parentId, createdAtMs, ...payload } = entry;
          const wanted = expected(payload as EntryPayload);
          return wanted === undefined ? [] : [{ id, createdAtMs, payload: wanted }];
        });
        expect(session.entries.map(({ id, createdAtMs, payload }) => ({ id, createdAtMs, payload: withoutKeptList(payload) }))).toEqual(
          kept,
        );
        expect(session.entries.map(({ parentId }) => parentId)).toEqual([null, ...kept.map(({ id }) => id)].slice(0, kept.length));
        expect([session.problems, session.missing]).toEqual([[], []]);
      }),
    );
  });

  test("the failure of a request, and a reply that was stopped", async () => {
    const failed = reply([{ type: "text", text: "overloaded" }], { stopReason: "error", errorMessage: "overloaded" });
    const stopped = reply([{ type: "text", text: "par" }], { stopReason: "aborted", responseId: "m2" });
    const { entries } = await readBack(branchOf([user("a"), failed, stopped]));
    expect(entries.map(({ payload }) => payload).slice(1)).toEqual([failed, stopped]);
  });

  test("Claude Code's own records, with the members that Bough does not know", async () => {
    const hook = {
      type: "system",
      subtype: "stop_hook_summary",
      hookCount: 1,
      uuid: "e1",
      parentUuid: "x",
      sessionId: "other",
      timestamp: "2026-01-03T00:00:01.000Z",
    };
    const [, line] = await linesOf(
      branchOf([
        { ...user("a"), claude: { permissionMode: "plan" } },
        { type: "foreign", originalType: "system/stop_hook_summary", raw: hook },
      ]),
    );
    expect(line).toMatchObject({ subtype: "stop_hook_summary", hookCount: 1, uuid: "e1", parentUuid: "e0", sessionId: SESSION });
  });
});
