import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "@bough/session-core/wire";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { qwenFormat } from "../../src/qwen/format.js";
import { qwenKeyOf, readQwenRecord } from "../../src/qwen/records.js";
import { readRecordLog } from "../../src/source/record-log.js";
import { TreeConversation } from "../../src/source/tree-log.js";
import { contextTexts, importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { jsonl, only } from "../world/only.js";
import { readsOnAlike } from "../world/read-on.js";
import { EVERYTHING, record, reply, SESSION, system, user } from "./qwen-file.js";

describe("a session of Qwen Code", () => {
  test("becomes a tree with the ids of its records: a rewind is a branch, reports of what other records have are merged", async () => {
    const { sessions } = await importedFile(`${SESSION}.jsonl`, EVERYTHING);
    expect(await treeLines(only(sessions))).toEqual([
      "u1 < -: user Fix it",
      "s1 < u1: custom qwen.attribution_snapshot",
      "a1 < s1: assistant (Hm.) I look. [run_shell_command c1] [run_shell_command c2]",
      "r1 < a1: result c1 a.ts",
      "r2 < r1: error c2 ",
      "a2 < r2: assistant Done.",
      "u2 < a2: user No",
      "a3 < u2: assistant Why?",
      "u3 < a2: user Yes",
      "a4 < u3: assistant Good.",
      'k1 < a4: compaction "All done." keeps u3',
      "n1 < k1: qwen.notification A task ended.",
      "u4 < n1: user More",
      "2:u4 < u4: qwen.context <qwen:user-prompt-submit-context>\nhook\n</qwen:user-prompt-submit-context>",
      "a5 < 2:u4: assistant Sure.",
    ]);
    expect(await only(sessions).record()).toMatchObject({
      id: SESSION,
      cwd: "/work",
      title: "A fix",
      titleSource: "user",
      source: { format: "qwen" },
    });
  });

  test("has the tokens of each reply once: those of the cache are no input, those of thinking are output", async () => {
    const { sessions } = await importedFile(`${SESSION}.jsonl`, EVERYTHING.slice(0, 4));
    expect(await only(sessions).entry("a1")).toMatchObject({
      message: { model: "qwen3", usage: { input: 1001, output: 25, cacheRead: 51 } },
    });
  });

  test("shows its commands and the results of its calls in the context", async () => {
    const { sessions } = await importedFile(`${SESSION}.jsonl`, EVERYTHING);
    expect(await contextTexts(only(sessions))).toEqual([
      ...["All done.", "Yes", "Good.", "A task ended.", "More"],
      ...["<qwen:user-prompt-submit-context>\nhook\n</qwen:user-prompt-submit-context>", "Sure."],
    ]);
  });

  test("ends at the entry to which a rewind at the end of the file went", async () => {
    const { sessions } = await importedFile(`${SESSION}.jsonl`, EVERYTHING.slice(0, 12));
    expect(only(sessions).leafId).toBe("a2");
  });

  test("an agent is a session of its own, linked to the call that started it", async () => {
    const folder = tempFolder();
    const agent = [
      { ...user("b1", null, "Look"), isSidechain: true, agentId: "x" },
      { ...reply("b2", "b1", [{ text: "Seen." }]), isSidechain: true },
    ];
    const files = {
      [`chats/${SESSION}.jsonl`]: EVERYTHING.map((line) => JSON.stringify(line)).join("\n"),
      [`subagents/${SESSION}/agent-x.jsonl`]: agent.map((line) => JSON.stringify(line)).join("\n"),
      [`subagents/${SESSION}/agent-x.meta.json`]: JSON.stringify({ agentId: "x", toolUseId: "c1", description: "Look around" }),
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { store } = await importedPath(folder);
    const { items } = await store.listSessions({ kind: "subagent" });
    expect(items).toMatchObject([
      { id: `${SESSION}.x`, kind: "subagent", title: "Look around", parent: { sessionId: SESSION, toolCallId: "c1" } },
    ]);
  });

  test("a record of another type is kept whole", async () => {
    const { sessions } = await importedFile(`${SESSION}.jsonl`, [...EVERYTHING.slice(0, 1), record("hologram", "h1", "u1", { x: 1 })]);
    expect((await treeLines(only(sessions))).at(-1)).toBe("h1 < u1: foreign hologram");
  });
});

test("a session of many compressions is converted twice, not once for each of them", () => {
  const path = join(tempFolder(), `${SESSION}.jsonl`);
  const turns = Array.from({ length: 50 }, (_, at) => {
    const prompt = user(`u${at}`, at === 0 ? null : `k${at - 1}`, `prompt ${at}`);
    const compressedHistory = [{ parts: [{ text: "All done." }] }, { parts: [{ text: "Got it." }] }, prompt["message"]];
    return [prompt, reply(`a${at}`, `u${at}`, [{ text: "Good." }]), system(`k${at}`, `a${at}`, "chat_compression", { compressedHistory })];
  });
  writeFileSync(path, jsonl(turns.flat()));
  let converted = 0;
  const read: typeof readQwenRecord = (given, reading) => {
    converted += 1;
    return readQwenRecord(given, reading);
  };
  const log = readRecordLog(path, (state) => new TreeConversation({ path, sessionId: SESSION, startMs: 0, state }, read, qwenKeyOf));
  const kept = [...log.records()].flatMap((one) =>
    one.kind === "entry" && isObject(one.payload) && one.payload.type === "compaction" ? one.payload.firstKeptEntryId : [],
  );
  expect(kept).toEqual(turns.map((_, at) => `u${at}`));
  expect(converted).toBeLessThanOrEqual(2 * turns.flat().length);
});

test("of any mutated session nothing is lost silently", async () => {
  await nothingIsLost([{ name: `${SESSION}.jsonl`, content: jsonl(EVERYTHING) }]);
});

test("a session that grows is read on as it is read whole", () => {
  readsOnAlike(qwenFormat, `${SESSION}.jsonl`, jsonl(EVERYTHING));
});
