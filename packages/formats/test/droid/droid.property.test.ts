import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { droidFormat } from "../../src/droid/format.js";
import { contextTexts, importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { jsonl, only } from "../world/only.js";
import { readsOnAlike } from "../world/read-on.js";
import { EVERYTHING, PATH, reply, SESSION, start, text, user } from "./droid-file.js";

const named = (lines: readonly string[]) => lines.map((line) => line.replace(/^[0-9a-y]{12}(?= <)/, "#"));

describe("a session of Droid", () => {
  test("becomes a tree with the ids of its messages: results apart from texts, reminders hidden, an edited prompt as a branch", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    expect(named(await treeLines(only(sessions)))).toEqual([
      "x1 < -: droid.reminder <system-reminder>\nTools.\n</system-reminder>",
      "u1 < x1: user Fix it",
      "a1 < u1: assistant (Hm.) I look. [Execute c1] [Execute c2]",
      "r1 < a1: result c1 a.ts",
      "2:r1 < r1: error c2 failed",
      "3:r1 < 2:r1: droid.reminder <system-reminder>\nTools.\n</system-reminder>",
      "a2 < 3:r1: assistant Done.",
      "u2 < a2: user No",
      "a3 < u2: assistant Why?",
      "u3 < a2: user Yes",
      "a4 < u3: assistant Good.",
      'k1 < a4: compaction "All done." keeps u3',
      "u4 < k1: user More",
    ]);
    expect(await contextTexts(only(sessions))).toEqual(["All done.", "Yes", "Good.", "More"]);
  });

  test("has its title, and the model in the settings beside it; a title that a person gave is the user's", async () => {
    const folder = tempFolder();
    const path = join(folder, `${SESSION}.jsonl`);
    writeFileSync(
      path,
      jsonl([
        start({ isSessionTitleManuallySet: true, sessionTitle: "Mine" }),
        user("u1", SESSION, text("go")),
        reply("a1", "u1", text("Yes.")),
      ]),
    );
    writeFileSync(path.replace(".jsonl", ".settings.json"), JSON.stringify({ model: "m" }));
    const session = only((await importedPath(path)).sessions);
    expect(await session.record()).toMatchObject({
      title: "Mine",
      titleSource: "user",
      cwd: "/work",
    });
    expect(await session.entry("a1")).toMatchObject({ parentId: "u1", message: { model: "glm" } });
    expect(await session.entry("u1")).toMatchObject({ parentId: null });
  });

  test("that another one started is linked to the call", async () => {
    const caller = { callingSessionId: "caller", callingToolUseId: "c7" };
    const { sessions } = await importedFile(PATH, [start(caller), user("u1", undefined, text("Look"))]);
    expect(await only(sessions).record()).toMatchObject({ kind: "subagent", parent: { sessionId: "caller", toolCallId: "c7" } });
  });

  test.each([
    ["a fork or a rewind is linked to the message up to which it is a copy", { forkedAtMessageId: "m4" }, "m4"],
    ["one that continues another after a compaction is linked to it", {}, null],
  ])("%s", async (_title, more, entryId) => {
    const { sessions } = await importedFile(PATH, [start({ parent: "before", ...more }), user("u1", undefined, text("Look"))]);
    expect(await only(sessions).record()).toMatchObject({
      kind: "conversation",
      parent: { sessionId: "before", entryId, toolCallId: null },
    });
    expect((await only(sessions).record()).metadata).toEqual({ owner: "ada", version: 2 });
  });

  test("follows the title of its first line, which the program writes again; the one before the first message is none", async () => {
    const path = join(tempFolder(), `${SESSION}.jsonl`);
    const write = (title: string) =>
      writeFileSync(path, jsonl([start({ title }), user("u1", undefined, text("Look")), reply("a1", "u1", text("Yes."))]));
    write("New Session");
    const { store, sessions } = await importedPath(path);
    expect((await only(sessions).record()).title).toBeNull();
    for (const title of ["Look", "Look closer"]) {
      write(title);
      await importedPath(path, store);
      expect(await only(sessions).record()).toMatchObject({ title, titleSource: "auto" });
    }
  });

  test("a command that failed is an error, also where no mark says so", async () => {
    const result = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });
    const { sessions } = await importedFile(PATH, [
      start(),
      user("u1", SESSION, text("go")),
      reply("a1", "u1", { type: "tool_use", id: "c1", name: "Execute", input: { command: "ls /x" } }),
      user("r1", "a1", result("c1", "Error: Command failed (exit code: 1)\nls: /x: No such file or directory")),
      reply("a2", "r1", { type: "tool_use", id: "c2", name: "Read", input: { file_path: "/log" } }),
      user("r2", "a2", result("c2", "Error: a line of a log")),
    ]);
    expect(await only(sessions).entry("r1")).toMatchObject({ message: { isError: true } });
    expect(await only(sessions).entry("r2")).toMatchObject({ message: { isError: false } });
  });

  test("records without a parent are below each other, also where several are between a message and the one that names it", async () => {
    const todo = (id: string) => ({ type: "todo_state", id, timestamp: "2026-11-24T05:00:00.000Z", todos: [] });
    const lines = [start(), user("u1", SESSION, text("go")), reply("a1", "u1", text("Yes.")), todo("t1"), todo("t2"), todo("t3")];
    const content = [...lines, user("u2", "a1", text("on")), reply("a2", "u2", text("So."))];
    expect((await treeLines(only((await importedFile(PATH, content)).sessions))).map((line) => line.split(":")[0])).toEqual([
      "u1 < -",
      "a1 < u1",
      "t1 < a1",
      "t2 < t1",
      "t3 < t2",
      "u2 < t3",
      "a2 < u2",
    ]);
    readsOnAlike(droidFormat, `${SESSION}.jsonl`, jsonl(content), { first: 2 });
  });

  test("shows its commands", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    expect((await only(sessions).tree.outline()).flatMap(({ preview }) => preview ?? []).join("\n")).toContain("Execute");
  });
});

test("a session that grows is read on as it is read whole", () => {
  readsOnAlike(droidFormat, `${SESSION}.jsonl`, jsonl(EVERYTHING), { first: 2 });
});

test("of any mutated session nothing is lost silently", async () => {
  await nothingIsLost([{ name: `${SESSION}.jsonl`, content: jsonl(EVERYTHING) }]);
});
