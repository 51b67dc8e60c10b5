import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { grokFormat } from "../../src/grok/format.js";
import { contextTexts, importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { derivedNamed, jsonl, only } from "../world/only.js";
import { readsOnAlike } from "../world/read-on.js";
import { chunk, EVERYTHING, ended, PATH, prompt, SESSION, update } from "./grok-file.js";

describe("a session of Grok Build", () => {
  test("becomes whole messages from their pieces, calls with results, and branches at prompts that were written again", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    expect(derivedNamed(await treeLines(only(sessions)))).toEqual([
      "#1 < -: user Fix it",
      "#2 < #1: assistant (Hm.) I look. [run_terminal_command c1] [run_terminal_command c2]",
      "#3 < #2: result c1 exit: 0\na.ts",
      "#4 < #3: error c2 exit: 3\nno",
      "#5 < #4: assistant Done.",
      "#6 < #5: user No",
      "#7 < #6: assistant Why?",
      "#8 < #5: user Yes",
      "#9 < #8: assistant Good.",
      "#10 < #9: custom grok.plan",
      '#11 < #10: compaction "All done." keeps nothing',
      "#12 < #11: custom grok.command",
      "#13 < #12: user More",
      "#14 < #13: assistant Sure.",
    ]);
    expect(await contextTexts(only(sessions))).toEqual(["All done.", "More", "Sure."]);
  });

  test("has the summary of a compaction from its checkpoint, and the prompts that it kept before it", async () => {
    const folder = tempFolder();
    const path = join(folder, PATH);
    const file = "compaction_checkpoints/k1.json";
    const text = (value: string) => [{ type: "text", text: value }];
    const history = [
      { type: "user", content: text("<user_info>"), synthetic_reason: "compaction_meta" },
      { type: "user", content: text("<user_query>\nFix it\n</user_query>") },
      { type: "user", content: text("This session is being continued. All done."), synthetic_reason: "compaction_meta" },
    ];
    mkdirSync(join(dirname(path), "compaction_checkpoints"), { recursive: true });
    writeFileSync(join(dirname(path), file), JSON.stringify({ compacted_history: history }));
    const compacted = [
      update("compaction_checkpoint", { checkpoint_file: file }),
      update("auto_compact_completed", { summary_preview: null }),
    ];
    writeFileSync(path, jsonl([...EVERYTHING.slice(0, 13), ...compacted]));
    const { sessions } = await importedPath(path);
    expect(await contextTexts(only(sessions))).toEqual(["Fix it", "This session is being continued. All done."]);
  });

  test("has the usage and the cost of a turn at its last reply, once", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING.slice(0, 13));
    const outline = await only(sessions).tree.outline();
    const replies = await Promise.all([1, 4].map((at) => only(sessions).entry(outline[at]?.id ?? "")));
    const usages = replies.map((entry) => (entry.type === "message" && entry.message.role === "assistant" ? entry.message.usage : "none"));
    expect(usages).toEqual([undefined, { input: 3009, output: 69, cacheRead: 159, cacheWrite: 0, totalTokens: 3237, cost: { total: 2 } }]);
  });

  test("that begins with a copy of another one is its fork: tokens count once", async () => {
    const folder = tempFolder();
    const [first, fork] = [PATH, PATH.replace(SESSION, "02a20c11-c311-7750-bcb7-aaa01dbb3f86")].map((path) => join(folder, path));
    const copied = EVERYTHING.slice(0, 13);
    const own = copied.map((line) =>
      JSON.parse(JSON.stringify(line).replace(`"sessionId":"${SESSION}"`, '"sessionId":"02a20c11-c311-7750-bcb7-aaa01dbb3f86"')),
    );
    for (const [path, lines, summary] of [
      [first, copied, { info: { id: SESSION, cwd: "/work" }, generated_title: "A fix" }],
      [
        fork,
        [
          ...own,
          ...[prompt(1, "fork"), chunk("Forked.", 9), ended(100)].map((line) =>
            JSON.parse(JSON.stringify(line).replaceAll(SESSION, "02a20c11-c311-7750-bcb7-aaa01dbb3f86")),
          ),
        ],
        { parent_session_id: SESSION },
      ],
    ] as const) {
      mkdirSync(dirname(path ?? ""), { recursive: true });
      writeFileSync(path ?? "", jsonl(lines));
      writeFileSync(join(dirname(path ?? ""), "summary.json"), JSON.stringify(summary));
    }
    const { store } = await importedPath(folder);
    const { items } = await store.listSessions({});
    expect(items.map(({ id, parent }) => [id, parent?.sessionId])).toContainEqual(["02a20c11-c311-7750-bcb7-aaa01dbb3f86", SESSION]);
    expect(items.find(({ id }) => id === SESSION)).toMatchObject({ title: "A fix", cwd: "/work" });
    expect((await store.statistics()).usage).toMatchObject([{ model: "grok-4.5", outputTokens: 138 }]);
  });
});

test("a log that grows is read on as it is read whole", () => {
  readsOnAlike(grokFormat, "updates.jsonl", jsonl(EVERYTHING));
  // The state and the result of a call that runs behind the end of its reply.
  const call = update("tool_call", { toolCallId: "c1", title: "run", rawInput: { command: "ls" } }, 1);
  const told = ["pending", "completed"].map((status) => update("tool_call_update", { toolCallId: "c1", status, content: [] }, 1));
  const shown = update("tool_call_update", { toolCallId: "c1", _meta: { "x.ai/tool": { name: "run", input: { command: "rm" } } } }, 1);
  readsOnAlike(grokFormat, "updates.jsonl", jsonl([prompt(0, "go"), call, ended(1), shown, ...told, prompt(1, "on")]));
});

test("of any mutated log nothing is lost silently", async () => {
  await nothingIsLost([{ name: "updates.jsonl", content: jsonl(EVERYTHING) }]);
});
