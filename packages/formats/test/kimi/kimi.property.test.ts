import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { collected, tempFolder } from "../../../session-core/test/world/stores.js";
import { kimiFormat } from "../../src/kimi/format.js";
import { contextTexts, importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { derivedNamed, jsonl, only } from "../world/only.js";
import { readsOnAlike } from "../world/read-on.js";
import { begin, call, EVERYTHING, end, METADATA, pathOf, record, result, said, text } from "./kimi-file.js";

const PATH = pathOf("main");

/** The entries of a session, with names for the ids that are derived. */
async function tree(records: readonly object[]): Promise<readonly string[]> {
  const { sessions } = await importedFile(PATH, records);
  return derivedNamed(await treeLines(only(sessions)));
}

describe("a session of Kimi Code", () => {
  test("becomes prompts, replies with their calls, and results; what was undone is a branch", async () => {
    expect(await tree(EVERYTHING)).toEqual([
      "#1 < -: system You are Kimi.",
      "msg_1 < #1: user Fix it",
      "#2 < msg_1: kimi.injection <system-reminder>Auto.</system-reminder>",
      "s1 < #2: assistant (Hm.) I look. [Bash c1] [Bash c2]",
      "#3 < s1: result c1 a.ts",
      "#4 < #3: error c2 failed",
      "s2 < #4: assistant Done.",
      "msg_2 < s2: user No",
      "s3 < msg_2: assistant Why?",
      "msg_3 < s2: user Yes",
      "s4 < msg_3: assistant Good.",
      '#5 < s4: compaction "All done." keeps msg_3',
      "msg_4 < #5: user More",
      "s5 < msg_4: assistant Well",
      "#6 < s5: custom kimi.turn.cancel",
      "msg_5 < #6: user Again",
      "s6 < msg_5: assistant Sure.",
    ]);
  });

  test("keeps the user's messages that a compaction kept, before its summary", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    expect(await contextTexts(only(sessions))).toEqual(["Yes", "All done.", "More", "Well", "Again", "Sure."]);
  });

  test("a later compaction may keep messages that an earlier one kept; each has the usage of its request", async () => {
    const end = EVERYTHING.findIndex(({ type }) => type === "context.apply_compaction") + 1;
    const [before, after] = [EVERYTHING.slice(0, end), EVERYTHING.slice(end)];
    const again = before.slice(-4).map((line) => ({ ...line, keptUserMessageCount: 2 }));
    const { sessions } = await importedFile(PATH, [...before, after[0] ?? {}, ...again]);
    expect(await contextTexts(only(sessions))).toEqual(["Yes", "More", "All done."]);
    const compactions = (await collected(only(sessions).entries())).filter(({ type }) => type === "compaction");
    expect(compactions).toMatchObject([{ usage: { input: 1008, output: 28 } }, { usage: { input: 1008, output: 28 } }]);
  });

  test("has tokens, model and end of a reply from its last record, once", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING.slice(0, 15));
    const reply = await only(sessions).entry("s1");
    expect(reply).toMatchObject({
      message: {
        provider: "kimi",
        model: "kimi-k2.7-code",
        usage: { input: 1008, output: 28, cacheRead: 51, cacheWrite: 2 },
        stopReason: "toolUse",
      },
    });
  });

  test("a conversation that was cleared begins again, with the system message", async () => {
    const prompt = record("config.update", { systemPrompt: "You are Kimi." });
    const { sessions } = await importedFile(PATH, [
      METADATA,
      prompt,
      said("msg_1", "one"),
      record("context.clear", {}),
      said("msg_2", "two"),
    ]);
    expect((await only(sessions).context()).system).toBe("You are Kimi.");
    expect(await contextTexts(only(sessions))).toEqual(["two"]);
  });

  test("an undo that a switch repeats counts once, and at the end of the file it places the leaf", async () => {
    const turns = [said("msg_1", "one"), said("msg_2", "two"), said("msg_3", "three")];
    const undo = [
      record("agent.switched", { base: { branch: "main", line: 3 }, turns: 1, legacyUndoLine: 6 }),
      record("context.undo", { count: 1 }),
    ];
    const { sessions } = await importedFile(PATH, [METADATA, ...turns, ...undo]);
    expect(only(sessions).leafId).toBe("msg_2");
    expect((await tree([METADATA, ...turns, ...undo, said("msg_4", "four")])).at(-1)).toBe("msg_4 < msg_2: user four");
  });

  test("an undo does not count messages that the user sent in the middle of a turn", async () => {
    const turns = [said("msg_1", "one"), said("msg_2", "two"), said("msg_3", "also", { kind: "user", inTurn: true })];
    const lines = await tree([METADATA, ...turns, record("context.undo", { count: 1 }), said("msg_4", "four")]);
    expect(lines.at(-1)).toBe("msg_4 < msg_1: user four");
  });

  test("a switch to another branch goes on where the branch begins", async () => {
    const switched = record("agent.switched", { branch: "b", base: { branch: "main", line: 4 } });
    const first = [METADATA, said("msg_1", "one"), begin("s1"), text("1"), end("s1"), said("msg_2", "two")];
    expect(await tree([...first, { ...switched, base: { branch: "main", line: 5 } }, said("msg_3", "three")])).toEqual([
      "msg_1 < -: user one",
      "s1 < msg_1: assistant 1",
      "msg_2 < s1: user two",
      "msg_3 < s1: user three",
    ]);
  });

  test("an agent is a session of its own, linked to the call whose result names it", async () => {
    const folder = tempFolder();
    const write = (path: string, content: string | Buffer) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    const agentCall = [begin("s1"), call("c1"), result("c1", "agent_id: agent-0\nstatus: completed"), end("s1")];
    write(PATH, jsonl([METADATA, said("msg_1", "go"), ...agentCall]));
    write(
      pathOf("agent-0"),
      jsonl([
        METADATA,
        said("msg_9", "<git-context>\nBranch: main\n</git-context>\n\nLook", { kind: "system_trigger", name: "subagent" }),
        begin("s9"),
        text("Seen."),
        end("s9"),
      ]),
    );
    write(
      join(dirname(dirname(dirname(PATH))), "state.json"),
      JSON.stringify({ title: "A name", isCustomTitle: true, cwd: "/work", agents: {} }),
    );
    const { store } = await importedPath(folder);
    const { items } = await store.listSessions({ kind: "all" });
    expect(items.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { id: "session_a3d83c4b", kind: "conversation", title: "A name", titleSource: "user", cwd: "/work", source: { format: "kimi" } },
      { id: "session_a3d83c4b.agent-0", kind: "subagent", parent: { sessionId: "session_a3d83c4b", toolCallId: "c1" } },
    ]);
    expect(items.find(({ kind }) => kind === "subagent")?.firstText).toBe("Look");
    const agent = await store.openSession("session_a3d83c4b.agent-0");
    expect((await agent.path())[1]).toMatchObject({ message: { role: "custom", customType: "kimi.git-context", display: false } });
  });
});

test("a journal that grows is read on as it is read whole", () => {
  const told = (id: string, role: string, more: object) =>
    record("context.append_message", { message: { role, content: [{ type: "text", text: id }], id, toolCalls: [], ...more } });
  const called = told("a", "assistant", { toolCalls: [{ id: "c1", name: "Bash", arguments: "{}" }] });
  readsOnAlike(
    kimiFormat,
    "wire.jsonl",
    jsonl([METADATA, said("u", "go"), called, told("r", "tool", { toolCallId: "c1" }), said("v", "on")]),
  );
  readsOnAlike(kimiFormat, "wire.jsonl", jsonl(EVERYTHING), { first: 2 });
});

test("of any mutated journal nothing is lost silently", async () => {
  await nothingIsLost([{ name: "wire.jsonl", content: jsonl(EVERYTHING) }]);
});
