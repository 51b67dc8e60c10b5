import { describe, expect, test } from "vitest";
import type { Entry, EntryPayload } from "../../src/entry/entry.js";
import { ENTRY_TYPES, MESSAGE_ROLES } from "../../src/entry/kinds.js";
import type { AssistantMessage, Message } from "../../src/entry/message.js";
import { titleOf, viewEntry, viewStep } from "../../src/view/entry-view.js";
import { groupSteps } from "../../src/view/group-steps.js";
import type { EntryView } from "../../src/view/view.js";

function entry(message: Message): EntryPayload {
  return { type: "message", message };
}

function reply(more: Partial<AssistantMessage>): EntryPayload {
  return entry({ role: "assistant", content: [], ...more });
}

/** An entry of each type, and a message of each role. */
const EVERY: readonly EntryPayload[] = [
  entry({ role: "system", content: "Be brief." }),
  entry({ role: "user", content: "Hello" }),
  reply({ content: [{ type: "text", text: "Hi" }] }),
  entry({ role: "toolResult", toolCallId: "c1", content: "done", isError: false }),
  entry({ role: "bashExecution", command: "ls", output: "a" }),
  entry({ role: "custom", customType: "note", content: "n" }),
  { type: "compaction", summary: "s", firstKeptEntryId: null },
  { type: "branch_summary", summary: "s", fromId: null },
  { type: "model_change", modelId: "m" },
  { type: "thinking_level_change", thinkingLevel: null },
  { type: "context_edit", targetId: "e1", replacement: null },
  { type: "custom_message", customType: "note", content: "n" },
  { type: "custom", customType: "state", data: 1 },
  { type: "foreign", originalType: "x", raw: {} },
];

async function stepsOf(...payloads: readonly EntryPayload[]): Promise<EntryView[]> {
  async function* entries(): AsyncGenerator<Entry> {
    for (const [at, payload] of payloads.entries()) yield { ...payload, id: `e${at}`, seq: at + 1, parentId: null, createdAtMs: 0 };
  }
  const views: EntryView[] = [];
  for await (const step of groupSteps(entries())) views.push(viewStep(step));
  return views;
}

describe("the view of an entry", () => {
  test("exists for every type and role, with a name of its own and something to see", () => {
    const kinds = EVERY.map((payload) => (payload.type === "message" ? payload.message.role : payload.type));
    expect(new Set(kinds)).toEqual(new Set([...ENTRY_TYPES.filter((type) => type !== "message"), ...MESSAGE_ROLES]));
    for (const payload of EVERY) expect(viewEntry(payload).parts, payload.type).not.toEqual([]);
    expect(new Set(EVERY.map((payload) => titleOf(payload).name)).size).toBe(EVERY.length);
  });

  test("of a message in which a program stored what a person typed is one of the user, unless it is to be shown as stored", () => {
    const typed = entry({ role: "custom", customType: "claude.bash", content: "<bash-input>ls</bash-input>", display: false });
    expect(viewEntry(typed)).toMatchObject({ kind: "user", isHidden: false, parts: [{ type: "markdown", text: "! ls" }] });
    expect(viewEntry(typed, { asStored: true }).parts).toEqual([{ type: "markdown", text: "<bash-input>ls</bash-input>" }]);
  });

  test("says how a command ended in fields and in sentences", () => {
    const { fields, parts } = viewEntry(
      entry({ role: "bashExecution", command: "x", output: "", exitCode: 2, truncated: true, excludeFromContext: true }),
    );
    expect(fields).toEqual([
      { name: "exit code", value: 2 },
      { name: "in context", value: "no" },
    ]);
    expect(parts.slice(1)).toEqual([
      { type: "note", about: "exit-code", text: "The command exited with code 2.", inFields: true },
      { type: "note", about: "truncated", text: "The output was cut when it was recorded.", inFields: false },
      { type: "note", about: "private", text: "Not sent to the model.", inFields: true },
    ]);
  });

  test.each([
    [
      { stopReason: "aborted", errorMessage: "Request was aborted" },
      { about: "stopped", detail: "Request was aborted" },
    ],
    [
      { stopReason: "error", errorMessage: " \n" },
      { about: "failed", text: "The reply failed" },
    ],
    [{ errorMessage: "Overloaded" }, { about: "failed", detail: "Overloaded" }],
    [{ stopReason: "length" }, { about: "cut" }],
  ])("of a reply with %j ends with a note", (end, note) => {
    expect(viewEntry(reply(end)).parts).toMatchObject([{ type: "note", inFields: true, ...note }]);
  });

  test("names the files of a summary once, from its details or else from its text", () => {
    const summary = "Done.\n\n<modified-files>\na.ts\n</modified-files>\n\n<read-files>\n- b.ts\n- b.ts\n</read-files>";
    expect(viewEntry({ type: "branch_summary", fromId: "e1", summary }).parts).toMatchObject([
      { type: "summary", of: "branch", text: "Done.\n\n", stored: summary, modifiedFiles: ["a.ts"], readFiles: ["b.ts"], fromId: "e1" },
    ]);
    const details = { modifiedFiles: ["c.ts", "", 7], readFiles: "no list" };
    expect(viewEntry({ type: "branch_summary", fromId: null, summary: "Done.", details }).fields).toEqual([
      { name: "branch tip", value: "(unknown)" },
      { name: "files modified", value: "c.ts" },
    ]);
  });

  test("has the facts that Bough adds to a summary, and ignores other values in their places", () => {
    const facts = (more: object) =>
      viewEntry({ type: "compaction", summary: "s", firstKeptEntryId: null, ...more })
        .fields.slice(1)
        .map(({ value }) => value);
    const covers = { fromEntryId: "e1", toEntryId: "e9", entries: 1200 };
    expect(facts({ covers, method: "normal", fidelity: { score: 0.934, total: 61, inSummary: { file: 50, rule: 9 } } })).toEqual([
      "1,200 entries, e1 → e9",
      "normal",
      "59 of 61 facts (0.93 by weight)",
    ]);
    expect(facts({ covers: { ...covers, entries: "x" }, method: 3, fidelity: { score: 1 } })).toEqual(["e1 → e9", "1.00 of 1"]);
    expect(facts({ covers: 7, fidelity: null })).toEqual([]);
  });

  test("of an edit has the blocks that replace the entry", () => {
    const call = { type: "toolCall" as const, id: "c1", name: "bash", arguments: { command: "ls" } };
    const content = [{ type: "text" as const, text: "a" }, { type: "image" as const, data: "AAAA", mimeType: "image/png" }, call];
    expect(viewEntry({ type: "context_edit", targetId: "e1", replacement: { content } }).parts).toMatchObject([
      { type: "fact", name: "replaces in the context", value: "e1" },
      { type: "markdown", text: "a" },
      { type: "image", bytes: 3 },
      { type: "call", detail: "ls", result: null, isMissing: false },
    ]);
  });
});

describe("the view of a reply with its results", () => {
  const call = (id: string) => ({ type: "toolCall" as const, id, name: "bash", arguments: { command: "ls" } });
  const result = (id: string, content: string): EntryPayload => entry({ role: "toolResult", toolCallId: id, content, isError: false });

  test("gives each call its result, also calls that share an id", async () => {
    const [view] = await stepsOf(
      reply({ content: [call("c1"), call("c1"), call("c2")] }),
      result("c2", "two"),
      result("c1", "one"),
      result("c1", "again"),
    );
    const outputs = view?.parts.map((part) => (part.type === "call" ? part.result?.output : undefined));
    expect(outputs).toEqual(["one", "again", "two"]);
  });

  test("says that a result is missing, unless the reply was stopped", async () => {
    const [missing, stopped] = await stepsOf(reply({ content: [call("c1")] }), reply({ content: [call("c2")], stopReason: "aborted" }));
    expect(missing?.parts[0]).toMatchObject({ type: "call", result: null, isMissing: true });
    expect(stopped?.parts[0]).toMatchObject({ type: "call", result: null, isMissing: false });
  });

  test("is the assistant's, and so is a result without its call", async () => {
    const views = await stepsOf(reply({ model: "m", provider: "p", content: [{ type: "text", text: "a" }] }), result("other", "x"));
    expect(views.map(({ kind, heading }) => [kind, heading])).toEqual([
      ["assistant", "Assistant"],
      ["result", "Assistant"],
    ]);
    expect(views[0]?.fields).toEqual([{ name: "model", value: "p/m" }]);
  });
});

describe("the view of a compaction that a provider wrote", () => {
  test("says whose it is, and whether it can be read", () => {
    const native = { provider: "openai", model: "gpt-6-sol", items: [{ type: "compaction", encrypted_content: "gAAAA" }], readable: false };
    const payload: EntryPayload = { type: "compaction", summary: "A note.", firstKeptEntryId: null, details: { native } };
    const { fields, parts } = viewEntry({ ...payload, id: "c", seq: 1, parentId: null, createdAtMs: 0 });
    expect(fields).toContainEqual({ name: "provider's own", value: "openai/gpt-6-sol, 1 item, encrypted" });
    expect(JSON.stringify(parts)).not.toContain("gAAAA");
  });
});
