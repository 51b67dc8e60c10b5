import { assistantMessage, type Session, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { collected, openedStore } from "../../../session-core/test/world/stores.js";
import { exportMarkdown, type MarkdownExportOptions } from "../../src/transfer/export.js";

const exported = async (session: Session, options: MarkdownExportOptions = {}) =>
  (await collected(exportMarkdown(session, options))).join("");

/** A session whose call `c1` started another one. */
async function withSubagent() {
  const store = await openedStore();
  const session = await store.createSession({ id: "main", title: "Main" });
  await session.append(userMessage("Look around."));
  const task = { type: "toolCall" as const, id: "c1", name: "Task", arguments: { description: "Look", prompt: "Look *there*." } };
  const call = await session.append(assistantMessage([task]));
  await session.append(toolResult("c1", "Nothing there."));
  const parent = { sessionId: session.id, entryId: call.id, toolCallId: "c1" };
  const subagent = await store.createSession({ id: "main.a1", kind: "subagent", title: "Look </details>", parent });
  await subagent.append(userMessage("Look *there*."));
  await subagent.append(assistantMessage("# Found\n\n```\nunclosed"));
  return { session, subagent };
}

describe("a subagent in a Markdown export", () => {
  test("is named below its call with the command that exports it", async () => {
    const { session, subagent } = await withSubagent();
    expect(await exported(session, { subagents: [subagent] })).toContain(
      "</details>\n\n*Subagent: Look &lt;/details&gt;* — `bough export main.a1`\n",
    );
  });

  test("is folded below its call as a quote, with speakers in bold, if it is included", async () => {
    const { session, subagent } = await withSubagent();
    const text = await exported(session, { subagents: [subagent], includeSubagents: true });
    expect(text).toContain("<details><summary>Subagent: Look &lt;/details&gt;</summary>\n\n> **User");
    expect(text).toMatch(/> \*\*Assistant\*\*\n>\n> ### Found\n>\n> ```\n> unclosed\n> ```\n\n<\/details>/);
    expect(text.match(/^## /gm)).toHaveLength(2);
  });

  test("shares the numbers of masked secrets with the session", async () => {
    const { session, subagent } = await withSubagent();
    const token = (end: string) => `ghp_${"k7Qz2Vn9Rb4Xw8Lt5Hd3".repeat(2).slice(0, 35)}${end}`;
    await session.append(userMessage(`mine: ${token("a")}`));
    await subagent.append(userMessage(`its: ${token("b")}, yours: ${token("a")}`));
    const text = await exported(session, { subagents: [subagent], includeSubagents: true });
    expect(text).toContain("mine: [GitHub token 1]");
    expect(text).toContain("its: [GitHub token 2], yours: [GitHub token 1]");
  });
});

describe("the contents list", () => {
  test("links to each turn of a long document, with its time, and names labels", async () => {
    const store = await openedStore();
    const session = await store.createSession({ id: "s", title: "Long" });
    for (let turn = 0; turn < 9; turn++)
      await session.append({ ...userMessage(`Do *${turn}*\nnow`), createdAtMs: Date.UTC(2026, 0, 5, 10, Math.floor(turn / 3)) });
    if (session.leafId !== null) await session.labels.set(session.leafId, "the [end]");
    const text = await exported(session);
    expect(text).toContain("**Contents** (times in UTC)\n\n- [Do \\*0\\* now](#user--2026-01-05-1000-utc) · 2026-01-05 10:00\n");
    expect(text).toContain("- [Do \\*1\\* now](#user--2026-01-05-1000-utc-1) · 2026-01-05 10:00\n");
    expect(text).toContain("- **the \\[end\\]**\n");
    expect(await exported(session, { to: session.leafId ?? "" })).not.toContain("**Contents**");
  });

  test("is missing in a short document", async () => {
    const { session } = await withSubagent();
    expect(await exported(session)).not.toContain("**Contents**");
  });
});

test("a session in which no entry has a parent is exported in the order of its entries", async () => {
  const store = await openedStore();
  const session = await store.createSession({ id: "flat" });
  for (const text of ["one", "two", "three"]) {
    await session.moveLeaf(null);
    await session.append(userMessage(text));
  }
  expect(await exported(session)).toMatch(/\none\n[\s\S]*\ntwo\n[\s\S]*\nthree\n/);
});

// What untyped code may pass. Ignored, it would print what was to be left out.
test("a misspelled option of an export is refused, with the name that it almost is", async () => {
  const { session } = await withSubagent();
  const untyped = (value: unknown) => value as MarkdownExportOptions;
  await expect(exported(session, untyped({ tooloutput: "none" }))).rejects.toThrow("options.tooloutput must be spelled toolOutput;");
});
