import { join } from "node:path";
import type { Entry, EntryPayload } from "@bough/session-core";
import { validateEntry } from "@bough/session-core/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PiExport, piLines } from "../../src/pi/write.js";
import { entriesOf, folder, leafOf, sessionIn, write } from "./pi-files.js";

const SESSION = { id: "s1", title: null, cwd: "/project", createdAtMs: Date.UTC(2026, 0, 2), parentSessionId: null };

/** An entry that the gate lets in. */
function entry(id: string, parentId: string | null, payload: unknown): Entry {
  return { id, seq: 1, parentId, createdAtMs: Date.UTC(2026, 0, 3), ...validateEntry(payload).payload };
}

const said = (id: string, parentId: string | null) => entry(id, parentId, { type: "message", message: { role: "user", content: id } });

function exportOf(entries: readonly Entry[], more: Partial<PiExport> = {}): PiExport {
  return { session: SESSION, entries, labels: [], leafId: entries.at(-1)?.id ?? null, ...more };
}

async function written(input: PiExport): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of piLines(input)) lines.push(line);
  return lines;
}

async function linesOf(input: PiExport): Promise<readonly Record<string, unknown>[]> {
  return (await written(input)).map((line) => JSON.parse(line));
}

/** The records that a reader finds in the file of this export. */
async function readBack(input: PiExport) {
  const session = sessionIn(write(join(folder(), "s.jsonl"), await written(input)));
  return { header: session.header, records: [...session.records()] };
}

/** The one payload after writing and reading. */
async function again(payload: EntryPayload): Promise<unknown> {
  const { records } = await readBack(exportOf([entry("e", null, payload)]));
  return validateEntry(entriesOf(records)[0]?.payload).payload;
}

const assistant = (content: readonly unknown[], fields: Record<string, unknown> = {}) => ({
  type: "message",
  message: { role: "assistant", content, ...fields },
});

describe("a pi file", () => {
  test("starts with a header of version 3", async () => {
    const [header] = await linesOf(exportOf([], { session: { ...SESSION, parentSessionId: "s0" } }));
    expect(header).toEqual({
      type: "session",
      version: 3,
      id: "s1",
      timestamp: "2026-01-02T00:00:00.000Z",
      cwd: "/project",
      exportedBy: "bough",
      parentSession: "s0",
    });
  });

  test("has one line for each entry, in order, and none more when the session stands at the last", async () => {
    const [, ...lines] = await linesOf(exportOf([said("a", null), said("b", "a")]));
    expect(lines.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["a", null],
      ["b", "a"],
    ]);
  });

  test("ends with a line below the leaf when the session stands elsewhere, because pi takes the last line for the leaf", async () => {
    const last = (await linesOf(exportOf([said("a", null), said("b", "a")], { leafId: "a" }))).at(-1);
    expect(last).toMatchObject({ type: "custom", customType: "bough.leaf", parentId: "a" });
  });

  test("chains labels and the title below the leaf", async () => {
    const labels = [{ entryId: "b", label: "x", createdAtMs: Date.UTC(2026, 0, 4) }];
    const lines = await linesOf(exportOf([said("a", null), said("b", "a")], { labels, session: { ...SESSION, title: "T" } }));
    const [label, title] = lines.slice(-2);
    expect(label).toMatchObject({ type: "label", parentId: "b", targetId: "b", label: "x", timestamp: "2026-01-04T00:00:00.000Z" });
    expect(title).toMatchObject({ type: "session_info", parentId: label?.id, name: "T" });
  });

  test("has in each reply what pi reads without looking", async () => {
    const [, line] = await linesOf(exportOf([entry("a", null, assistant([], { usage: { input: 5 } }))]));
    expect(line?.message).toMatchObject({
      api: "unknown",
      provider: "unknown",
      model: "unknown",
      stopReason: "stop",
      timestamp: Date.UTC(2026, 0, 3),
      usage: {
        input: 5,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 0,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
    });
  });

  test("names the compaction itself where nothing was kept, and the root where no branch is known", async () => {
    const compaction = entry("c", null, { type: "compaction", summary: "S", firstKeptEntryId: null });
    const summary = entry("d", "c", { type: "branch_summary", summary: "S", fromId: null });
    const [, first, second] = await linesOf(exportOf([compaction, summary]));
    expect(first).toMatchObject({ firstKeptEntryId: "c", tokensBefore: 0 });
    expect(second).toMatchObject({ fromId: "root" });
  });

  test("has no block that pi would take for an image", async () => {
    const foreign = { type: "foreign", originalType: "document", raw: { a: 1 } };
    const [, line] = await linesOf(exportOf([entry("a", null, { type: "message", message: { role: "user", content: [foreign] } })]));
    expect(line?.message).toMatchObject({ content: [{ type: "text", text: "[document]" }] });
  });

  test("gives pi's own records back that Bough does not know", async () => {
    const raw = { type: "mode_change", id: "m", parentId: null, timestamp: "2026-01-03T00:00:00.000Z", mode: "plan" };
    const [, line] = await linesOf(exportOf([entry("m", null, { type: "foreign", originalType: "mode_change", raw })]));
    expect(line).toEqual(raw);
  });

  test("carries foreign records of others where pi keeps what is not its own", async () => {
    const payload = { type: "foreign", originalType: "session", raw: { type: "session" } };
    const [, line] = await linesOf(exportOf([entry("f", null, payload)]));
    expect(line).toMatchObject({
      type: "custom",
      customType: "bough.foreign",
      data: { originalType: "session", raw: { type: "session" } },
    });
  });
});

describe("reading back what was written gives the same", () => {
  test.each<[string, unknown]>([
    ["a reply with nothing but text", assistant([{ type: "text", text: "hi" }])],
    ["a reply whose usage lacks figures", assistant([], { usage: { input: 5, cost: { total: 1 } }, errorMessage: "e" })],
    [
      "signed thinking and tool calls",
      assistant([
        { type: "thinking", thinking: "", thinkingSignature: "s=", redacted: true },
        { type: "toolCall", id: "t", name: "n", arguments: {}, extra: 1 },
      ]),
    ],
    [
      "foreign blocks of a reply",
      assistant([
        { type: "foreign", originalType: "fallback", raw: { type: "fallback", from: 1 } },
        { type: "foreign", originalType: "x", raw: 7 },
      ]),
    ],
    [
      "foreign blocks of a person",
      { type: "message", message: { role: "user", content: [{ type: "foreign", originalType: "document", raw: { a: 1 }, extra: 2 }] } },
    ],
    [
      "files of a person",
      {
        type: "message",
        message: {
          role: "user",
          content: [
            { type: "file", mediaType: "application/pdf", data: "aGk=", filename: "plan.pdf", extra: 3 },
            { type: "file", mediaType: "audio/mpeg", url: "https://example.org/a.mp3" },
          ],
        },
      },
    ],
    ["files of a reply", assistant([{ type: "file", mediaType: "audio/wav", data: "aGk=", providerOptions: { google: { a: "b" } } }])],
    ["a tool result without a name", { type: "message", message: { role: "toolResult", toolCallId: "t", content: [], details: { a: 1 } } }],
    ["a tool result with a text", { type: "message", message: { role: "toolResult", toolCallId: "t", toolName: "x", content: "out" } }],
    ["a custom message without display", { type: "message", message: { role: "custom", customType: "x", content: "y" } }],
    ["a command", { type: "message", message: { role: "bashExecution", command: "ls", output: "", exitCode: null } }],
    ["instructions", { type: "message", message: { role: "system", content: "be brief", sections: { a: null } } }],
    [
      "instructions with sections",
      { type: "message", message: { role: "system", content: "Be brief.\n\n/project", sections: { cwd: "/project" } } },
    ],
    ["instructions of sections", { type: "message", message: { role: "system", content: "/project", sections: { cwd: "/project" } } }],
    ["instructions beside sections", { type: "message", message: { role: "system", content: "Be brief.", sections: { cwd: "/project" } } }],
    ["a custom message of pi's name", { type: "custom_message", customType: "pi.system", content: "x", details: { role: "system" } }],
    [
      "a compaction that kept nothing",
      { type: "compaction", summary: "S", firstKeptEntryId: null, trigger: "manual", details: { readFiles: [], modifiedFiles: [] } },
    ],
    ["a branch summary without a branch", { type: "branch_summary", summary: "S", fromId: null, usage: { input: 1 } }],
    ["a model without a provider", { type: "model_change", modelId: "m" }],
    ["the default thinking level", { type: "thinking_level_change", thinkingLevel: null }],
    ["an edit", { type: "context_edit", targetId: "x", replacement: { content: [{ type: "text", text: "short" }] } }],
    ["an omission", { type: "context_edit", targetId: "x", replacement: null }],
    ["a custom entry", { type: "custom", customType: "x", data: { a: 1 } }],
    ["a custom message entry", { type: "custom_message", customType: "x", content: "y" }],
    ["a pi usage", { type: "custom", customType: "pi.usage", data: { kind: "cache_warm", usage: { input: 1 } } }],
    ["an oh-my-pi usage", { type: "custom", customType: "omp.model_usage", data: { purpose: "title" } }],
    ["a foreign record", { type: "foreign", originalType: "event_msg", raw: { a: 1 }, extra: 1 }],
    [
      "a foreign record of a known type",
      {
        type: "foreign",
        originalType: "message",
        raw: { type: "message", id: "e", parentId: null, timestamp: "2026-01-03T00:00:00.000Z" },
      },
    ],
  ])("%s", async (_, payload) => {
    const judged = validateEntry(payload).payload;
    expect(await again(judged)).toEqual(judged);
  });

  test("the text of a tool result is a block, because pi sends blocks only", async () => {
    const result = { type: "message", message: { role: "toolResult", toolCallId: "t", toolName: "x", content: "out", isError: false } };
    const lines = await written(exportOf([entry("r", null, result)]));
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ message: { content: [{ type: "text", text: "out" }] } });
  });

  test("a branch summary keeps the branch it names, even its own parent", async () => {
    const entries = [said("a", null), entry("s", "a", { type: "branch_summary", summary: "S", fromId: "a" })];
    const { records } = await readBack(exportOf(entries));
    expect(entriesOf(records)[1]?.payload).toMatchObject({ fromId: "a" });
  });

  test("the header, the labels and the title", async () => {
    const labels = [{ entryId: "a", label: "start", createdAtMs: 7 }];
    const session = { ...SESSION, title: "T", parentSessionId: "s0" };
    const { header, records } = await readBack(exportOf([said("a", null)], { session, labels }));
    expect(header).toMatchObject({ sessionId: "s1", cwd: "/project", createdAtMs: SESSION.createdAtMs, parent: { sessionId: "s0" } });
    expect(records.filter(({ kind }) => kind !== "entry")).toEqual([
      { kind: "label", entryId: "a", label: "start", createdAtMs: 7 },
      { kind: "title", title: "T", source: "user" },
    ]);
  });

  test("the tree and the leaf, whatever they are", async () => {
    const parents = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(parents, fc.nat(), fc.boolean(), async (choices, leafChoice, hasTitle) => {
        const ids = [null, ...choices.map((_, index) => `e${index}`)];
        const pick = (choice: number, among: number) => ids[choice % among] ?? null;
        const entries = choices.map((choice, index) => said(`e${index}`, pick(choice, index + 1)));
        const leafId = pick(leafChoice, ids.length);
        const session = { ...SESSION, title: hasTitle ? "T" : null };
        const { records } = await readBack(exportOf(entries, { leafId, session }));
        expect(entriesOf(records).map(({ id, parentId }) => [id, parentId])).toEqual(entries.map(({ id, parentId }) => [id, parentId]));
        expect(leafOf(records) ?? null).toBe(leafId);
      }),
    );
  });
});
