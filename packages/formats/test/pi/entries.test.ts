import { describe, expect, test } from "vitest";
import { at, entriesOf, payloadOf, problemsOf, recordsOf, user } from "./pi-files.js";

/** The payload of the last entry of these records. */
const lastOf = (...records: readonly Record<string, unknown>[]) => entriesOf(recordsOf(records)).at(-1)?.payload;

const compaction = (id: string, parentId: string, firstKeptEntryId?: string) =>
  at(id, parentId, { type: "compaction", summary: "S", tokensBefore: 9, firstKeptEntryId });
const label = (id: string, parentId: string) => at(id, parentId, { type: "label", targetId: "a", label: "x" });

describe("a compaction", () => {
  test("keeps what it does not know, and calls an extension a hook", () => {
    const fields = {
      summary: "S",
      shortSummary: "s",
      tokensBefore: 9,
      tokensAfter: 2,
      preserveData: { k: 1 },
      systemMessage: { role: "system" },
      details: null,
    };
    expect(payloadOf({ type: "compaction", firstKeptEntryId: "x", fromExtension: true, ...fields })).toEqual({
      type: "compaction",
      firstKeptEntryId: "x",
      fromHook: true,
      ...fields,
    });
  });

  test("that names itself kept nothing, and so did one that names nothing", () => {
    expect(lastOf(user("a", null), compaction("c", "a", "c"))).toMatchObject({ firstKeptEntryId: null });
    expect(lastOf(user("a", null), compaction("c", "a"))).toMatchObject({ firstKeptEntryId: null });
  });

  test("that names a label kept what follows the label", () => {
    expect(lastOf(user("a", null), label("l", "a"), user("b", "l"), compaction("c", "b", "l"))).toMatchObject({ firstKeptEntryId: "b" });
    expect(lastOf(user("a", null), label("l", "a"), label("m", "l"), user("b", "m"), compaction("c", "b", "l"))).toMatchObject({
      firstKeptEntryId: "b",
    });
    expect(lastOf(user("a", null), label("l", "a"), compaction("c", "l", "l"))).toMatchObject({ firstKeptEntryId: null });
  });

  test("without a summary is kept as a foreign entry", () => {
    expect(payloadOf({ type: "compaction", firstKeptEntryId: "x" })).toMatchObject({ type: "foreign", originalType: "compaction" });
  });
});

describe("a branch summary", () => {
  const from = (fromId: string | undefined, parentId: string | null) => at("s", parentId, { type: "branch_summary", summary: "S", fromId });

  test("names the leaf of the branch left behind", () => {
    expect(lastOf(user("a", null), user("b", "a"), from("b", "a"))).toMatchObject({ type: "branch_summary", summary: "S", fromId: "b" });
  });

  test("names the entry when that leaf was a label", () => {
    expect(lastOf(user("a", null), user("b", "a"), label("l", "b"), from("l", "a"))).toMatchObject({ fromId: "b" });
  });

  test("does not know the branch when it names the root, nothing, or the entry that was gone to, as older versions did", () => {
    for (const fromId of ["root", undefined, "a"]) expect(lastOf(user("a", null), from(fromId, "a"))).toMatchObject({ fromId: null });
  });
});

describe("other entries", () => {
  test("a model change names provider and model, also when oh-my-pi has both in one field", () => {
    expect(payloadOf({ type: "model_change", provider: "p", modelId: "m" })).toEqual({ type: "model_change", provider: "p", modelId: "m" });
    expect(payloadOf({ type: "model_change", model: "openrouter/z-ai/glm", role: "smol" })).toEqual({
      type: "model_change",
      provider: "openrouter",
      modelId: "z-ai/glm",
      role: "smol",
    });
  });

  test("the model of a single retry is not the session's", () => {
    const records = recordsOf([at("m", null, { type: "model_change", model: "p/m", role: "fallback" })]);
    expect(entriesOf(records)[0]?.payload).toMatchObject({ type: "foreign", originalType: "model_change" });
    expect(problemsOf(records)).toEqual([]);
  });

  test("a thinking level may be none", () => {
    expect(payloadOf({ type: "thinking_level_change", configured: "auto" })).toEqual({
      type: "thinking_level_change",
      thinkingLevel: null,
      configured: "auto",
    });
  });

  test("a context edit omits or replaces", () => {
    expect(payloadOf({ type: "context_edit", targetId: "t", replacement: null })).toEqual({
      type: "context_edit",
      targetId: "t",
      replacement: null,
    });
    expect(payloadOf({ type: "context_edit", targetId: "t", replacement: { content: "short" } })).toMatchObject({
      replacement: { content: "short" },
    });
    expect(payloadOf({ type: "context_edit", targetId: "t" })).toMatchObject({ type: "foreign" });
  });

  test("custom entries and messages keep what their host wrote", () => {
    expect(payloadOf({ type: "custom", customType: "x", data: [1] })).toEqual({ type: "custom", customType: "x", data: [1] });
    expect(payloadOf({ type: "custom_message", customType: "x", content: null, display: false, details: 1, attribution: "user" })).toEqual({
      type: "custom_message",
      customType: "x",
      content: [],
      display: false,
      details: 1,
      attribution: "user",
    });
  });

  test("what a call outside the conversation used stays with it, hidden from the context", () => {
    expect(payloadOf({ type: "usage", kind: "cache_warm", usage: { input: 1 } })).toEqual({
      type: "custom",
      customType: "pi.usage",
      data: { kind: "cache_warm", usage: { input: 1 } },
    });
    expect(payloadOf({ type: "model_usage", purpose: "title" })).toMatchObject({
      type: "custom",
      customType: "omp.model_usage",
      data: { purpose: "title" },
    });
  });

  test.each([
    "service_tier_change",
    "mode_change",
    "session_init",
    "ttsr_injection",
    "reset_boundary",
    "credential_pin",
    "active_tools_change",
    "of_tomorrow",
  ])("%s is kept whole, and no problem", (type) => {
    const record = at("e", null, { type, anything: [1] });
    const records = recordsOf([record]);
    expect(entriesOf(records)[0]?.payload).toEqual({ type: "foreign", originalType: type, raw: record });
    expect(problemsOf(records)).toEqual([]);
  });
});
