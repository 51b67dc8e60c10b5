// What the real session files hold, counted from their bytes by code that knows nothing of the readers, equals what an import stores.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@bough/session-core";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { hasRealSession, REAL_SESSIONS, realSession } from "../../../../.ci/real-sessions.mjs";
import { openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/transfer/import-path.js";
import { fileOf } from "../world/sources.js";

/** Prompts of people (or of an agent to its subagent), replies of models, calls in them, and results of calls. */
interface Counts {
  readonly prompts: number;
  readonly replies: number;
  readonly calls: number;
  readonly results: number;
}

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((held, name) => (isRecord(held) ? held[name] : undefined), value);
const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const held = at(value, ...path);
  return Array.isArray(held) ? held : [];
};
const count = <T>(list: readonly T[], isCounted: (one: T) => boolean): number => list.filter(isCounted).length;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const distinct = (list: readonly unknown[]): number => new Set(list.filter((one) => one !== undefined)).size;

const parsed = (text: string): unknown => JSON.parse(text);
const linesOf = (path: string): readonly unknown[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line.trim() === "" ? [] : [parsed(line)]));
const below = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith(ending))
    .map((file) => join(file.parentPath, file.name))
    .sort();

const ofType =
  (...types: readonly string[]) =>
  (one: unknown) =>
    types.includes(String(at(one, "type")));
const ofRole =
  (role: string, ...path: readonly string[]) =>
  (one: unknown) =>
    at(one, ...path, "role") === role;
const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((block) => String(at(block, "text") ?? "")).join("\n") : "";

/** pi and its descendants: a line for each message. */
function countPi(lines: readonly unknown[]): Counts {
  const messages = lines.filter(ofType("message"));
  return {
    prompts: count(messages, ofRole("user", "message")),
    replies: count(messages, ofRole("assistant", "message")),
    calls: sum(messages.map((line) => count(listAt(line, "message", "content"), ofType("toolCall")))),
    results: count(messages, ofRole("toolResult", "message")),
  };
}

/** Claude Code: a line for each block of a reply; what the program injects is no prompt. */
function countClaude(lines: readonly unknown[]): Counts {
  const users = lines.filter(ofType("user"));
  const blocks = (line: unknown) => listAt(line, "message", "content");
  const isInjected = (line: unknown) => at(line, "isMeta") === true || at(line, "isCompactSummary") === true;
  const isCommand = (line: unknown) => /<(?:command-|local-command-)/.test(textOf(at(line, "message", "content")));
  const isPrompt = (line: unknown) => !isInjected(line) && !isCommand(line) && !blocks(line).some(ofType("tool_result"));
  const replies = lines.filter(ofType("assistant"));
  return {
    prompts: count(users, isPrompt),
    replies: distinct(replies.map((line) => at(line, "message", "id"))),
    calls: sum(replies.map((line) => count(blocks(line), ofType("tool_use")))),
    results: sum(users.map((line) => count(blocks(line), ofType("tool_result")))),
  };
}

/** Codex: a line for each item. A rollout does not say which items are of one reply, so texts are counted for them. */
function countCodex(lines: readonly unknown[]): Omit<Counts, "replies"> {
  const items = lines.filter(ofType("response_item")).map((line) => at(line, "payload"));
  return {
    prompts: count(items, (item) => ofType("message")(item) && ofRole("user")(item)),
    calls: count(items, ofType("function_call", "custom_tool_call", "tool_search_call", "local_shell_call")),
    results: count(items, ofType("function_call_output", "custom_tool_call_output", "tool_search_output")),
  };
}

function countCopilot(lines: readonly unknown[]): Counts {
  return {
    prompts: count(lines, ofType("user.message")),
    replies: count(lines, ofType("assistant.message")),
    calls: sum(lines.filter(ofType("assistant.message")).map((line) => listAt(line, "data", "toolRequests").length)),
    results: count(lines, ofType("tool.execution_complete")),
  };
}

/** Messages in the form of Anthropic's API: Cursor's transcripts and Droid. */
function countBlocks(lines: readonly unknown[], role: (name: string) => (line: unknown) => boolean): Counts {
  const blocks = (line: unknown) => listAt(line, "message", "content");
  const users = lines.filter(role("user"));
  return {
    prompts: count(users, (line) => !blocks(line).some(ofType("tool_result"))),
    replies: count(lines, role("assistant")),
    calls: sum(lines.map((line) => count(blocks(line), ofType("tool_use")))),
    results: sum(users.map((line) => count(blocks(line), ofType("tool_result")))),
  };
}

/** Gemini CLI: a call has its result in it. */
function countGemini(messages: readonly unknown[]): Counts {
  const replies = messages.filter(ofType("gemini"));
  const calls = replies.flatMap((message) => listAt(message, "toolCalls"));
  return {
    prompts: count(messages, ofType("user")),
    replies: replies.length,
    calls: calls.length,
    results: count(calls, (call) => at(call, "result") !== undefined || at(call, "resultDisplay") !== undefined),
  };
}

/** Grok Build: a text comes in pieces. */
function countGrok(lines: readonly unknown[]): Counts {
  const updates = lines.map((line) => at(line, "params", "update"));
  const named = (kind: string) => updates.filter((update) => at(update, "sessionUpdate") === kind);
  return {
    prompts: distinct(named("user_message_chunk").map((update) => at(update, "_meta", "promptIndex"))),
    replies: distinct(
      lines
        .filter((line) => at(line, "params", "update", "sessionUpdate") === "agent_message_chunk")
        .map((line) => at(line, "params", "_meta", "promptId")),
    ),
    calls: named("tool_call").length,
    results: count(named("tool_call_update"), (update) => at(update, "status") === "completed"),
  };
}

/** opencode: parts of messages; the text behind a tool is a reply of its own, because the model was asked again. */
function countOpencode(messages: readonly (readonly [role: unknown, parts: readonly unknown[]])[]): Counts {
  const replies = messages.filter(([role]) => role === "assistant");
  const tools = replies.flatMap(([, parts]) => parts.filter(ofType("tool")));
  const asked = (parts: readonly unknown[]) =>
    1 + count([...parts.keys()], (n) => ofType("text")(parts[n]) && n > 0 && ofType("tool")(parts[n - 1]));
  return {
    prompts: count(messages, ([role]) => role === "user"),
    replies: sum(replies.map(([, parts]) => asked(parts))),
    calls: tools.length,
    results: count(tools, (tool) => at(tool, "state", "output") !== undefined || at(tool, "state", "error") !== undefined),
  };
}

function opencodeFiles(folder: string): ReturnType<typeof countOpencode> {
  const messages = below(join(folder, "message"), ".json").map((path) => parsed(readFileSync(path, "utf8")));
  const parts = below(join(folder, "part"), ".json").map((path) => ({ path, part: parsed(readFileSync(path, "utf8")) }));
  // A part is in a folder that is named after its message, or names it.
  const partsOf = (id: string) =>
    parts.flatMap(({ path, part }) => (path.includes(`${id}/`) || at(part, "messageID") === id ? [part] : []));
  return countOpencode(messages.map((message) => [at(message, "role"), partsOf(String(at(message, "id")))]));
}

/** Kimi Code: messages as they are appended to the context, and what happens in a step. */
function countKimi(lines: readonly unknown[]): Counts {
  const events = lines.filter(ofType("context.append_loop_event")).map((line) => at(line, "event"));
  return {
    prompts: count(lines, (line) => ofType("context.append_message")(line) && ofRole("user", "message")(line)),
    replies: distinct(events.filter(ofType("content.part", "tool.call")).map((event) => at(event, "stepUuid"))),
    calls: count(events, ofType("tool.call")),
    results: count(events, ofType("tool.result")),
  };
}

function countQwen(lines: readonly unknown[]): Counts {
  return {
    prompts: count(lines, (line) => ofType("user")(line) && at(line, "subtype") === undefined),
    replies: count(lines, ofType("assistant")),
    calls: sum(lines.map((line) => count(listAt(line, "message", "parts"), (part) => at(part, "functionCall") !== undefined))),
    results: count(lines, ofType("tool_result")),
  };
}

/** Antigravity: results follow the step that called, and are not named. */
function countAntigravity(lines: readonly unknown[]): Counts {
  const calls = lines.map((line) => listAt(line, "tool_calls").length);
  const isResult = (line: unknown) => at(line, "source") === "MODEL" && !ofType("PLANNER_RESPONSE")(line);
  const followed = calls.map((made, n) => {
    const next = lines.slice(n + 1).findIndex((line) => !isResult(line));
    return Math.min(made, next === -1 ? lines.length - n - 1 : next);
  });
  return {
    prompts: count(lines, ofType("USER_INPUT")),
    replies: count(lines, ofType("PLANNER_RESPONSE")),
    calls: sum(calls),
    results: sum(followed),
  };
}

function countHermes(database: Database.Database): Counts {
  const rows = database.prepare("SELECT role, tool_calls AS calls FROM messages").all();
  return {
    prompts: count(rows, ofRole("user")),
    replies: count(rows, ofRole("assistant")),
    calls: sum(rows.map((row) => (typeof at(row, "calls") === "string" ? (parsed(String(at(row, "calls"))) as unknown[]).length : 0))),
    results: count(rows, ofRole("tool")),
  };
}

/** Kilo: a row for each message, with its parts in it. */
function countKilo(path: string): Counts {
  const database = new Database(path, { readonly: true });
  const rows = database.prepare("SELECT type AS role, data FROM session_message ORDER BY time_created, id").all();
  database.close();
  return countOpencode(rows.map((row) => [at(row, "role"), listAt(parsed(String(at(row, "data"))), "content")]));
}

/** What is imported, and its counts from the bytes. */
interface Sample {
  readonly path: string;
  readonly counts: Partial<Counts>;
}

const lines = (path: string, counter: (lines: readonly unknown[]) => Partial<Counts>): Sample => ({ path, counts: counter(linesOf(path)) });

function addCounts(all: readonly Counts[]): Counts {
  const total = (of: (one: Counts) => number) => sum(all.map(of));
  return {
    prompts: total((c) => c.prompts),
    replies: total((c) => c.replies),
    calls: total((c) => c.calls),
    results: total((c) => c.results),
  };
}

/** The samples of each folder of the real sessions. */
const SAMPLES: Readonly<Record<string, (folder: string) => readonly Sample[]>> = {
  antigravity: (folder) =>
    readdirSync(join(folder, "brain")).map((name) => {
      const path = join(folder, "brain", name);
      return { path, counts: addCounts(below(path, ".jsonl").map((file) => countAntigravity(linesOf(file)))) };
    }),
  claude: (folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => {
        const path = join(folder, name);
        const agents = below(folder, ".jsonl").filter((file) => file.includes(`${name.replace(".jsonl", "")}/subagents/`));
        return { path, counts: addCounts([path, ...agents].map((file) => countClaude(linesOf(file)))) };
      }),
  codex: (folder) => {
    const path = join(folder, "rollout-small.jsonl");
    const all = readFileSync(path, "utf8").split("\n");
    const first = all.findIndex((line) => line.includes('"type":"compacted"'));
    const { calls, results } = countCodex(linesOf(path));
    // A compaction repeats messages of the conversation; those before the first one are there once.
    return [{ path, counts: { calls, results } }, lines(fileOf([...all.slice(0, first), ""], "rollout-head.jsonl"), countCodex)];
  },
  copilot: (folder) => [lines(join(folder, "small.jsonl"), countCopilot)],
  cursor: (folder) =>
    ["small.jsonl", "test-session.jsonl"].map((name) => lines(join(folder, name), (all) => countBlocks(all, (role) => ofRole(role)))),
  droid: (folder) => [lines(join(folder, "session_store_small.jsonl"), (all) => countBlocks(all, (role) => ofRole(role, "message")))],
  gemini: (folder) => [
    lines(join(folder, "session-v040.jsonl"), countGemini),
    { path: join(folder, "small.json"), counts: countGemini(listAt(parsed(readFileSync(join(folder, "small.json"), "utf8")), "messages")) },
  ],
  grok: (folder) => [{ path: folder, counts: countGrok(linesOf(join(folder, "updates.jsonl"))) }],
  hermes: (folder) => {
    const path = join(tempFolder(), "state.db");
    const database = new Database(path);
    database.exec(readFileSync(join(folder, "hermes.sql"), "utf8"));
    const counts = countHermes(database);
    database.close();
    return [{ path, counts }];
  },
  kilo: (folder) => [{ path: join(folder, "kilo.db"), counts: countKilo(join(folder, "kilo.db")) }],
  kimi: (folder) => [
    { path: join(folder, "sessions/wd_app_0"), counts: addCounts(below(folder, ".jsonl").map((file) => countKimi(linesOf(file)))) },
  ],
  openclaw: (folder) => [lines(join(folder, "small.jsonl"), countPi)],
  opencode: (folder) => readdirSync(folder).map((name) => ({ path: join(folder, name), counts: opencodeFiles(join(folder, name)) })),
  pi: (folder) => ["large-session.jsonl", "small-v3.jsonl"].map((name) => lines(join(folder, name), countPi)),
  qwen: (folder) => below(folder, ".jsonl").map((path) => lines(path, countQwen)),
};

async function countStored(store: Store): Promise<Counts> {
  const { items } = await store.listSessions({ kind: "all", archived: "all", limit: 1_000 });
  const all: Counts[] = [];
  for (const { id } of items) {
    for await (const entry of (await store.openSession(id)).entries()) {
      if (entry.type !== "message") continue;
      const { message } = entry;
      all.push({
        prompts: Number(message.role === "user"),
        replies: Number(message.role === "assistant"),
        calls: message.role === "assistant" ? count([...message.content], ofType("toolCall")) : 0,
        results: Number(message.role === "toolResult"),
      });
    }
  }
  return addCounts(all);
}

describe.runIf(hasRealSession())("an own count from the raw bytes", () => {
  test("is there for every folder of the real sessions", () => {
    const folders = readdirSync(REAL_SESSIONS, { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  test.each(Object.entries(SAMPLES))("equals what an import stores: %s", async (name, samplesOf) => {
    for (const { path, counts } of samplesOf(realSession(name))) {
      const store = await openedStore();
      await importPath(store, path);
      expect(await countStored(store), path).toMatchObject(counts);
      expect(sum(Object.values(counts)), path).toBeGreaterThan(0);
    }
  });
});
