import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collected, findingsOf } from "../../../session-core/test/world/stores.js";
import { contextTexts, importedFile, treeLines } from "../world/imported-file.js";
import { call, gemini, header, response, user } from "./gemini-log.js";

const NAME = "chats/session-2026-11-24T01-39-0f252054.jsonl";

/**
 * A log of Gemini CLI 0.61: two prompts, the second one with three compressions between its calls, then resumed for a third one. After each
 * compression the log lists the messages that it kept under new ids. The first summary has no snapshot.
 */
const RECORDED = readFileSync(join(import.meta.dirname, "../fixtures/gemini-compressions.jsonl"), "utf8")
  .trimEnd()
  .split("\n");

async function imported(lines: readonly (string | object)[]) {
  const { sessions, store } = await importedFile(
    NAME,
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
  const [session] = sessions;
  if (session === undefined) throw new RangeError("no session");
  expect(await findingsOf(store)).toEqual([]);
  return session;
}

/** What the texts say, in a word each. */
const words = (texts: readonly string[]) =>
  texts.map((text) => /PROMPT-\d|reply\d{4}x|session_context/.exec(text)?.[0] ?? text.slice(0, 40)).join(" ");

describe("a log with compressions", () => {
  test("has each prompt and each reply once, whatever ids the kept ones have in later lists", async () => {
    const session = await imported(RECORDED);
    const entries = await collected(session.entries());
    const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(3);
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(8);
    expect(messages.filter(({ role }) => role === "toolResult")).toHaveLength(5);
    expect(entries.filter(({ type }) => type === "compaction")).toHaveLength(3);
    // A single line: each entry but the first one follows the one before it.
    expect(entries.slice(1).map(({ parentId }) => parentId)).toEqual(entries.slice(0, -1).map(({ id }) => id));
  });

  test("has the context that Gemini CLI sends: its own context, the summary, what it kept", async () => {
    const result = "<untrusted_context>";
    const session = await imported(RECORDED);
    expect(words(await contextTexts(session)).replaceAll(/<untrusted_context>\S*\s\S*\s\S*/g, result)).toMatch(
      /^session_context reply0019x PROMPT-5 reply0011x \S+ reply0014x \S+ reply0017x \S+ reply0020x PROMPT-6 reply0021x$/,
    );
  });

  test("is the same when a resume lists the context alone before the whole list", async () => {
    const [first, context] = RECORDED;
    const at = RECORDED.findIndex((line) => line.includes("PROMPT-6")) - 2;
    const again = [...RECORDED.slice(0, at), first ?? "", context ?? "", ...RECORDED.slice(at)];
    const [one, other] = [await imported(RECORDED), await imported(again)];
    expect(await treeLines(other)).toEqual(await treeLines(one));
    expect(await contextTexts(other)).toEqual(await contextTexts(one));
  });

  test("counts the tokens of each request once", async () => {
    const requests = new Map(
      RECORDED.flatMap((line) => {
        const { type, id, tokens } = JSON.parse(line);
        return type === "gemini" ? [[id, tokens.input - tokens.cached]] : [];
      }),
    );
    const { usage } = await (await imported(RECORDED)).statistics();
    expect(usage).toMatchObject([{ replies: 8, inputTokens: [...requests.values()].reduce((sum, tokens) => sum + tokens, 0) }]);
  });
});

describe("a list with a summary", () => {
  const context = (id: string, text: string) => user(id, [{ text: `<session_context>${text}` }]);
  const before = [{ $set: { messages: [context("s", "x")] } }, user("u", "one"), gemini("g", "1"), user("v", "one"), gemini("h", "2")];
  const summary = [user("x", [{ text: "sum" }]), gemini("y", [{ text: "Got it. Thanks for the additional context!" }])];

  test("keeps the last messages that say what it lists, not earlier ones that say the same", async () => {
    const lists = [{ $set: { messages: [context("s", "x"), ...summary, user("v2", [{ text: "one" }]), gemini("h2", [{ text: "2" }])] } }];
    const session = await imported([header(), ...before, ...lists, user("w", "three")]);
    expect((await treeLines(session)).slice(5)).toEqual(['x < h: compaction "sum" keeps s', "w < x: user three"]);
    expect(await contextTexts(session)).toEqual(["<session_context>x", "sum", "one", "2", "three"]);
  });

  test("has a context of the program that changed as an entry above the compaction", async () => {
    const session = await imported([header(), ...before, { $set: { messages: [context("t", "y"), ...summary, gemini("h2", "2")] } }]);
    expect((await treeLines(session)).slice(5)).toEqual(["t < h: gemini.context <session_context>y", 'x < t: compaction "sum" keeps h']);
    expect(await contextTexts(session)).toEqual(["<session_context>y", "sum", "2"]);
  });

  test("keeps a result that it has cut, as an edit; the original stays", async () => {
    const reply = gemini("k", "", { toolCalls: [call("a", "long output")] });
    const kept = [user("v2", "one"), gemini("h2", "2"), user("z2", "go"), gemini("k2", [{ functionCall: { id: "a" } }])];
    const list = { $set: { messages: [...summary, ...kept, user("r2", [response("a", "cut")])] } };
    const session = await imported([header(), ...before, user("z", "go"), reply, user("r", [response("a", "long output")]), list]);
    expect(await contextTexts(session)).toEqual(["sum", "one", "2", "go", "<toolCall>", "cut"]);
    expect((await treeLines(session)).filter((line) => line.includes("long output"))).toHaveLength(1);
  });
});
