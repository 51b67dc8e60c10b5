import { assistantMessage, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { findings, model, openedStore, plant, turns } from "../world/session.js";

const CWD = "/home/ada/app";

/** A session in a directory, in which a file was changed, and which then continued. */
async function worked() {
  const store = await openedStore();
  const session = await store.createSession({ cwd: CWD });
  await session.append(userMessage("Write the parser, please."));
  const call = { type: "toolCall", id: "e1", name: "edit", arguments: { path: `${CWD}/src/parser.ts` } } as const;
  await session.append(assistantMessage([call]));
  await session.append(toolResult("e1", `Edited ${CWD}/src/parser.ts`, { toolName: "edit" }));
  await session.append(assistantMessage(`The parser in ${CWD}/src/parser.ts reads tabs.`));
  await plant(session, turns(1, 8));
  return { store, session };
}

const settings = { keep: { recentTokens: 200 }, trigger: { manualMinMessages: 2 } } as const;

describe("a summary in the store", () => {
  test.each([
    ["without a model", undefined],
    ["by a model", model().summarizer],
  ])("%s names files from the session's directory; its details keep them whole", async (_name, summarizer) => {
    const { store, session } = await worked();
    const result = await createCompactor({ session, contextWindow: 100_000, settings, summarizer }).compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    // What a model writes is its own.
    if (summarizer === undefined) expect(result.summary).not.toContain(CWD);
    expect(result.summary).toContain("<modified-files>\nsrc/parser.ts\n</modified-files>");
    if (summarizer === undefined) expect(result.summary).toContain("- [x] The parser in src/parser.ts reads tabs.");
    const entry = await session.entry(result.entryId);
    expect(entry).toMatchObject({ details: { modifiedFiles: [`${CWD}/src/parser.ts`] } });
    expect(await findings(store)).toEqual([]);
  });

  test("of a branch that is left does so too", async () => {
    const { session } = await worked();
    const first = (await session.path())[0]?.id ?? "";
    const compactor = createCompactor({ session, contextWindow: 100_000, settings });
    await compactor.navigate(first, { summarize: true });
    const summary = (await session.path()).find(({ type }) => type === "branch_summary");
    expect(JSON.stringify(summary?.type === "branch_summary" ? summary.summary : null)).toContain("src/parser.ts");
    expect(summary?.type === "branch_summary" ? summary.summary : CWD).not.toContain(CWD);
  });
});
