import { assistantMessage, type Session, toolResult } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type CompactorHooks, createCompactor } from "../../src/index.js";
import { grown, model, plant } from "../world/session.js";

/** A call that reads or writes a file, with its result. */
async function uses(session: Session, name: "read" | "write", path: string): Promise<void> {
  const id = `${name} ${path}`;
  await session.append(assistantMessage([{ type: "toolCall", id, name, arguments: { path, content: "x" } }]));
  await session.append(toolResult(id, `${name} of ${path} went well. `.repeat(20), { toolName: name }));
}

function compactorOf(session: Session, hooks: CompactorHooks = {}) {
  return createCompactor({ session, contextWindow: 100_000, settings: { keep: { by: "nothing" } }, summarizer: model().summarizer, hooks });
}

/** The lists of the summary at the leaf. */
async function listed(session: Session): Promise<unknown> {
  const { compaction, messages } = await session.context();
  const last = messages.at(-1);
  const summary = last?.role === "compactionSummary" || last?.role === "branchSummary" ? last.summary : "";
  return { details: compaction?.payload.details, text: summary.match(/<(?:read|modified)-files>[\s\S]*/)?.[0] ?? "" };
}

describe("the files of a compaction", () => {
  test("include those of earlier compactions; a modified file is not in the list of read ones", async () => {
    const { session } = await grown("u1");
    await uses(session, "read", "src/a.ts");
    await uses(session, "write", "src/b.ts");
    await plant(session, "a1");
    await compactorOf(session).compact();
    await plant(session, "u2");
    await uses(session, "write", "src/a.ts");
    await uses(session, "read", "src/b.ts");
    await uses(session, "read", "src/c.ts");
    await plant(session, "a2");
    await compactorOf(session).compact();
    const second = { readFiles: ["src/c.ts"], modifiedFiles: ["src/a.ts", "src/b.ts"] };
    expect(await listed(session)).toMatchObject({ details: second });
    await plant(session, "u3 a3", { user: 200, reply: 200 });
    await compactorOf(session).compact();
    expect(await listed(session)).toEqual({
      details: second,
      text: expect.stringMatching(
        /<read-files>\nsrc\/c\.ts\n<\/read-files>\n\n<modified-files>\nsrc\/a\.ts\nsrc\/b\.ts\n<\/modified-files>/,
      ),
    });
  });

  test("do not include those of a hook's compaction, whose details have no known format", async () => {
    const { session } = await grown("u1");
    await uses(session, "read", "src/a.ts");
    await plant(session, "a1");
    const details = { readFiles: ["of/the-hook.ts"], modifiedFiles: [] };
    await compactorOf(session, { beforeCompact: () => ({ compaction: { summary: "A hook's.", details } }) }).compact();
    await plant(session, "u2");
    await uses(session, "read", "src/c.ts");
    await plant(session, "a2");
    await compactorOf(session).compact();
    expect(await listed(session)).toMatchObject({ details: { readFiles: ["src/c.ts"], modifiedFiles: [] } });
  });
});

describe("the files of an abandoned branch", () => {
  test("include those of branches abandoned on it before, and of its compactions", async () => {
    const { session } = await grown("u1 a1");
    // A first branch, whose summary lands on the second one.
    await plant(session, "u2");
    await uses(session, "write", "src/first.ts");
    await plant(session, "a2");
    await compactorOf(session).navigate("a1", { summarize: true });
    await plant(session, "u3");
    await uses(session, "read", "src/first.ts");
    await uses(session, "read", "src/second.ts");
    await plant(session, "a3");
    await compactorOf(session).compact();
    await plant(session, "u4");
    await uses(session, "read", "src/third.ts");
    await plant(session, "a4");
    const result = await compactorOf(session).navigate("u1", { summarize: true });
    if (result.kind !== "moved" || result.summaryEntryId === null) throw new TypeError(result.kind);
    expect(await session.entry(result.summaryEntryId)).toMatchObject({
      details: { readFiles: ["src/second.ts", "src/third.ts"], modifiedFiles: ["src/first.ts"] },
    });
  });

  test("are those of earlier branch summaries if the branch has no files of its own", async () => {
    const { session } = await grown("u1 a1 u2");
    await uses(session, "read", "src/first.ts");
    await plant(session, "a2");
    await compactorOf(session).navigate("a1", { summarize: true });
    await plant(session, "u3 a3");
    const result = await compactorOf(session).navigate("u1", { summarize: true });
    if (result.kind !== "moved") throw new TypeError(result.kind);
    expect(result.summary).toMatch(/<read-files>\nsrc\/first\.ts\n<\/read-files>/);
  });
});
