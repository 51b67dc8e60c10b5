import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { collected } from "../../../session-core/test/world/stores.js";
import { geminiFormat } from "../../src/gemini/format.js";
import { contextTexts, importedFile, treeLines } from "../world/imported-file.js";
import { fileOf } from "../world/sources.js";
import { call, gemini, header, response, user } from "./gemini-log.js";

const NAME = "chats/session-2026-04-01T10-00-11111111.jsonl";

async function onlySession(records: readonly unknown[]) {
  const { sessions } = await importedFile(NAME, records);
  const [session] = sessions;
  if (session === undefined || sessions.length !== 1) throw new RangeError("not one session");
  return session;
}

const tree = async (...records: readonly unknown[]) => treeLines(await onlySession([header(), ...records]));
const context = async (...records: readonly unknown[]) => contextTexts(await onlySession([header(), ...records]));

test("a log whose first line has all messages of an older document is a log, however long that line is", async () => {
  const long = "x".repeat(1_500_000);
  const old = header({ messages: [user("u", long), gemini("g", "Read.")] });
  const session = await onlySession([old, user("v", "And now?")]);
  expect((await session.record()).id).toBe(header().sessionId);
  expect((await contextTexts(session)).map((text) => text.replace(long, "x…"))).toEqual(["x…", "Read.", "And now?"]);
});

describe("messages", () => {
  test("a reply has its thoughts, its text, its calls and its usage; results in it follow it", async () => {
    const tokens = { input: 900, output: 40, cached: 800, thoughts: 10, tool: 0, total: 950 };
    const thoughts = [{ subject: "Plan", description: "Read it.", timestamp: "2026-04-01T10:00:01.000Z" }];
    const session = await onlySession([
      header(),
      user("u", [{ text: "Read both." }]),
      gemini("g", "Reading.", { thoughts, tokens, toolCalls: [call("a", "A"), call("b", "B", { status: "error" })] }),
    ]);
    expect(await treeLines(session)).toEqual([
      "u < -: user Read both.",
      "g < u: assistant (**Plan**\n\nRead it.) Reading. [read_file a] [read_file b]",
      "2:g < g: result a A",
      "3:g < 2:g: error b B",
    ]);
    const [, reply] = await collected(session.entries());
    expect(reply).toMatchObject({
      message: { provider: "google", model: "gemini-3-flash", usage: { input: 100, cacheRead: 800, output: 50, totalTokens: 950 } },
    });
  });

  test("a message that is written again keeps its first place and its most complete form", async () => {
    const lines = await tree(
      user("u", "go"),
      gemini("g", ""),
      gemini("g", "", { toolCalls: [call("a")] }),
      user("r", [response("a", "A")]),
      gemini("g", "", { toolCalls: [call("a", "A")], tokens: { total: 9 } }),
      gemini("g2", "done"),
    );
    expect(lines).toEqual(["u < -: user go", "g < u: assistant [read_file a]", "2:g < g: result a A", "g2 < 2:g: assistant done"]);
  });

  test("what is written while the log is read is for the next reading, so that no reply comes without its calls", () => {
    const path = fileOf([header(), user("u", "go"), gemini("g", "I run it.")], "log.jsonl");
    const [session] = geminiFormat.sessions(path);
    const reading = (session?.records() ?? [])[Symbol.iterator]();
    expect(reading.next().value).toMatchObject({ kind: "merged" });
    appendFileSync(path, `\n${JSON.stringify(gemini("g", "I run it.", { toolCalls: [call("a", "A")] }))}\n`);
    const rest = [...{ [Symbol.iterator]: () => reading }].map(({ kind }) => kind);
    expect(rest).toEqual(["entry", "open", "entry"]);
  });

  test("calls and results may be parts of the contents", async () => {
    const called = { functionCall: { id: "a", name: "read_file", args: { file_path: "a.md" } }, thoughtSignature: "c2ln" };
    const session = await onlySession([header(), gemini("g", [{ text: "Reading." }, called]), user("r", [response("a", "A")])]);
    expect(await treeLines(session)).toEqual(["g < -: assistant Reading. [read_file a]", "2:r < g: result a A"]);
    const [reply] = await collected(session.entries());
    expect(reply).toMatchObject({ message: { content: [{}, { providerOptions: { google: { thoughtSignature: "c2ln" } } }] } });
  });

  test("what Gemini CLI writes into the user's turn is no typed text; notes are no messages; unknown types are kept", async () => {
    const lines = await tree(
      user("s", [{ text: "<session_context>\nToday is…" }]),
      user("u", [{ text: "explain @a.md" }, { text: "--- Content from referenced files ---" }], {
        displayContent: [{ text: "explain @a.md" }],
      }),
      { id: "i", timestamp: "2026-04-01T10:00:00.000Z", type: "info", content: "Chat compressed." },
      { id: "x", timestamp: "2026-04-01T10:00:00.000Z", type: "hologram", content: "?" },
    );
    expect(lines).toEqual([
      "s < -: gemini.context <session_context>\nToday is…",
      "u < s: user explain @a.md --- Content from referenced files ---",
      "i < u: custom gemini.info",
      "x < i: foreign hologram",
    ]);
  });
});

describe("rewinds and lists", () => {
  test("a rewind leaves the messages as a branch; a rewind at the end moves the leaf", async () => {
    const start = [user("u", "one"), gemini("g", "1"), user("v", "two"), gemini("h", "2"), { $rewindTo: "v" }];
    expect(await tree(...start, user("w", "other"))).toContain("w < g: user other");
    expect(await context(...start)).toEqual(["one", "1"]);
  });

  test("a list at the start adds messages; a shorter one is a rewind", async () => {
    const context0 = user("s", [{ text: "<session_context>x" }]);
    const lines = await tree(
      { $set: { messages: [context0] } },
      user("u", "cancel me"),
      { $set: { messages: [context0] } },
      user("v", "next"),
    );
    expect(lines.slice(1)).toEqual(["u < s: user cancel me", "v < s: user next"]);
  });

  test("a list with a snapshot is a compaction that keeps the messages at its end, under old or new ids", async () => {
    const before = [user("u", "one"), gemini("g", "1"), user("v", "two"), gemini("h", "2")];
    const snapshot = [
      user("x", [{ text: "<state_snapshot>\nsum\n</state_snapshot>" }]),
      gemini("y", [{ text: "Got it. Thanks for the additional context!" }]),
    ];
    for (const kept of [
      [user("v", [{ text: "two" }]), gemini("h", "2")],
      [user("new1", [{ text: "two" }]), gemini("new2", [{ text: "2" }])],
    ]) {
      const records = [...before, { $set: { messages: [...snapshot, ...kept] } }, user("w", "three")];
      expect((await tree(...records)).slice(4)).toEqual(['x < h: compaction "sum" keeps v', "w < x: user three"]);
      expect(await context(...records)).toEqual([expect.stringContaining("sum"), "two", "2", "three"]);
    }
    expect((await tree(...before, { $set: { messages: snapshot } })).slice(4)).toEqual([
      'x < h: compaction "sum" keeps nothing',
      "y < x: assistant Got it. Thanks for the additional context!",
    ]);
  });

  test("a masked result is a context edit, and so is a message that is left out; the originals stay", async () => {
    const start = [user("u", "one"), gemini("g", "", { toolCalls: [call("a", "long output")] }), gemini("h", "done")];
    const masked = gemini("g", "", { toolCalls: [call("a", "masked")] });
    expect((await tree(...start, { $set: { messages: [start[0], masked, start[2]] } })).slice(4)).toEqual([
      expect.stringMatching(/< h: replaces 2:g by masked$/),
    ]);
    expect(await context(...start, { $set: { messages: [start[0], masked, start[2]] } })).toEqual(["one", "<toolCall>", "masked", "done"]);
    expect(
      await context(...start, { $patch: { updates: [{ id: "g", toolCalls: [{ id: "a", result: [response("a", "masked")] }] }] } }),
    ).toEqual(["one", "<toolCall>", "masked", "done"]);
    expect(await context(...start, user("v", "more"), { $patch: { removeIds: ["h"] } })).toEqual([
      "one",
      "<toolCall>",
      "long output",
      "more",
    ]);
  });

  describe("a resumed session, whose log repeats its head, a short list and the whole list in another form", () => {
    const note = { id: "i", timestamp: "2026-04-01T10:00:00.000Z", type: "info", content: "Loaded." };
    const start = [
      { $set: { messages: [user("s", [{ text: "<session_context>x" }])] } },
      note,
      user("u", [{ text: "one" }]),
      gemini("g", "Reading.", { thoughts: [{ subject: "Plan", description: "" }], tokens: { input: 9 }, toolCalls: [call("a", "A")] }),
      gemini("h", "1", { tokens: { input: 5 } }),
    ];
    const thought = { text: "**Plan**", thought: true };
    const called = { functionCall: { id: "a", name: "read_file", args: { file_path: "a.md" } } };
    const later = { timestamp: "2026-04-02T10:00:00.000Z", model: undefined };
    const whole = [
      user("s", [{ text: "<session_context>x" }], later),
      user("u", [{ text: "one" }], later),
      gemini("g", [thought, { text: "Reading." }, called], later),
      user("g_response", [response("a", "A")], later),
      gemini("h", [thought, { text: "1" }], later),
    ];
    const resumed = [
      header({ startTime: "2026-04-02T10:00:00.000Z" }),
      { $set: { messages: whole.slice(0, 1) } },
      { $set: { sessionId: header().sessionId } },
      { $set: { messages: whole } },
    ];

    test("has each message once, as it was recorded first", async () => {
      const before = await tree(...start);
      expect(await tree(...start, ...resumed)).toEqual(before);
      const turn = [user("v", "two"), gemini("k", "2")];
      const lines = await tree(...start, ...resumed, ...turn, ...resumed.slice(0, 3), { $set: { messages: [...whole, ...turn] } });
      expect(lines).toEqual([...before, "v < h: user two", "k < v: assistant 2"]);
      const session = await onlySession([header(), ...start, ...resumed, ...turn]);
      expect((await session.statistics()).usage).toMatchObject([{ replies: 3, inputTokens: 14 }]);
      expect(await context(...start, ...resumed, ...turn)).toEqual(await context(...start, ...turn));
    });

    test("goes on from the short list, if no list restores the others", async () => {
      const lines = await tree(...start, ...resumed.slice(0, 3), user("v", "two"));
      expect(lines.at(-1)).toBe("v < i: user two");
    });

    test("has a message that stands behind another one as a new one, and one whose text changed as an edit", async () => {
      const [first, second] = [user("v", "two"), gemini("k", "2")];
      const cut = [{ $set: { messages: whole.slice(0, 1) } }];
      const moved = await tree(...start, ...cut, { $set: { messages: [whole[0], first, ...whole.slice(1)] } });
      expect(moved.filter((line) => line.endsWith("user one"))).toHaveLength(2);
      const edited = await tree(...start, ...cut, { $set: { messages: [...whole.slice(0, 4), gemini("h", "one!"), second] } });
      expect(edited.slice(-2)).toEqual([expect.stringMatching(/^k < h: assistant 2$/), expect.stringMatching(/ < k: replaces h by one!$/)]);
    });
  });

  test("a title of the metadata is the session's", async () => {
    const session = await onlySession([header(), user("u", "one"), { $set: { summary: "A talk" } }]);
    expect((await session.record()).title).toBe("A talk");
  });
});
