// Session files of other agents, made from the same messages in the shapes that the agents write.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Random } from "./random.mjs";
import { CWD, writeLines } from "./session-files.mjs";
import { messages } from "./world.mjs";

const START_MS = Date.UTC(2026, 0, 5);

/** Prompts, and replies with the results of their calls, one after the other; each has its time. */
export function* steps(seed) {
  let atMs = START_MS;
  let reply;
  for (const message of messages(seed)) {
    if (message.role === "toolResult") {
      reply.results.push({ ...message, text: message.content[0].text });
      continue;
    }
    if (reply !== undefined) yield reply;
    reply = undefined;
    atMs += 4000;
    const [{ text }] = message.content;
    if (message.role === "user") yield { kind: "prompt", text, atMs };
    else reply = { ...message, kind: "reply", text, calls: message.content.slice(1), results: [], atMs };
  }
}

export const iso = (ms) => new Date(ms).toISOString();

export function resultOf(reply, call) {
  return reply.results.find(({ toolCallId }) => toolCallId === call.id);
}

/** A rollout of Codex: the items of requests, with the events that its screen shows. */
export function writeCodexFile(path, bytes) {
  writeLines(path, bytes, codexLines(new Random(61)));
}

function* codexLines(random) {
  const line = (atMs, type, payload) => ({ timestamp: iso(atMs), type, payload });
  const id = random.uuid();
  const origin = { originator: "codex_cli_rs", cli_version: "0.146.0", source: "cli", model_provider: "openai" };
  yield line(START_MS, "session_meta", { id, session_id: id, timestamp: iso(START_MS), cwd: CWD, ...origin });
  for (const step of steps(62)) {
    const { text, atMs } = step;
    if (step.kind === "prompt") {
      yield line(atMs, "event_msg", { type: "user_message", message: text, images: [] });
      yield line(atMs, "turn_context", { cwd: CWD, approval_policy: "never", model: "gpt-5-codex", effort: "medium", summary: "auto" });
      yield line(atMs, "response_item", { type: "message", role: "user", content: [{ type: "input_text", text }] });
      continue;
    }
    yield line(atMs, "response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] });
    for (const { id: call_id, name, arguments: args } of step.calls)
      yield line(atMs, "response_item", { type: "function_call", name, arguments: JSON.stringify(args), call_id });
    const usage = { input_tokens: step.usage.input, cached_input_tokens: 0, output_tokens: step.usage.output };
    yield line(atMs, "event_msg", { type: "token_count", info: { last_token_usage: usage, model_context_window: 272_000 } });
    for (const { toolCallId, text: output } of step.results)
      yield line(atMs, "response_item", { type: "function_call_output", call_id: toolCallId, output });
  }
}

/** A log of Gemini CLI: results are parts of the replies. */
export function writeGeminiFile(path, bytes) {
  writeLines(path, bytes, geminiLines(new Random(63)));
}

function* geminiLines(random) {
  yield { sessionId: random.uuid(), projectHash: "0".repeat(64), startTime: iso(START_MS), lastUpdated: iso(START_MS), kind: "main" };
  for (const step of steps(64)) {
    const head = { id: random.uuid(), timestamp: iso(step.atMs) };
    if (step.kind === "prompt") yield { ...head, type: "user", content: [{ text: step.text }] };
    else yield { ...head, type: "gemini", content: step.text, thoughts: [], model: "gemini-3-pro", ...geminiReply(step) };
  }
}

function geminiReply(reply) {
  const { input, output } = reply.usage;
  const toolCalls = reply.calls.map((call) => {
    const { id, name, arguments: args } = call;
    const response = { functionResponse: { id, name, response: { output: resultOf(reply, call)?.text } } };
    return { id, name, args, result: [response], status: "success", timestamp: iso(reply.atMs) };
  });
  return { tokens: { input, output, cached: 0, thoughts: 0, tool: 0, total: input + output }, toolCalls };
}

/** A transcript of a Cursor agent: no results, no ids. */
export function writeCursorTranscript(path, bytes) {
  writeLines(path, bytes, cursorLines());
}

function* cursorLines() {
  for (const step of steps(65)) {
    const line = (role, ...content) => ({ role, message: { content } });
    if (step.kind === "prompt") yield line("user", { type: "text", text: `<user_query>\n${step.text}\n</user_query>` });
    else
      yield line(
        "assistant",
        { type: "text", text: step.text },
        ...step.calls.map(({ name, arguments: input }) => ({ type: "tool_use", name, input })),
      );
  }
}

/** How many prompts lie between two states: each has the ids of all messages, so that a chat of 20 MB would have 600 MB of them. */
const STATE_EVERY = 50;

/** The database of a chat of Cursor's command line: messages by their hash, and states with their ids. */
export function writeCursorChat(path, bytes) {
  const database = openNew(
    path,
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
  );
  const insert = database.prepare("INSERT OR IGNORE INTO blobs VALUES (?, ?)");
  const put = (data) => {
    const id = createHash("sha256").update(data).digest();
    insert.run(id.toString("hex"), data);
    return id;
  };
  const state = [];
  let written = 0;
  let prompts = 0;
  const add = (message) => {
    const data = Buffer.from(JSON.stringify(message));
    written += data.length;
    state.push(Buffer.from([0x0a, 32]), put(data));
  };
  for (const step of steps(66)) {
    if (step.kind === "prompt") prompts += 1;
    if (written >= bytes && step.kind === "prompt") break;
    if (prompts % STATE_EVERY === 0 && step.kind === "prompt") put(Buffer.concat(state));
    for (const message of cursorMessages(step)) add(message);
  }
  const meta = { agentId: new Random(67).uuid(), latestRootBlobId: put(Buffer.concat(state)).toString("hex"), name: "Bench", createdAt: START_MS };
  database.prepare("INSERT INTO meta VALUES ('0', ?)").run(Buffer.from(JSON.stringify(meta)).toString("hex"));
  close(database);
}

function* cursorMessages(step) {
  const { kind, text, atMs } = step;
  const cursor = { requestId: String(atMs) };
  if (kind === "prompt") {
    yield { role: "user", content: [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }], providerOptions: { cursor } };
    return;
  }
  const calls = step.calls.map((call) => ({ type: "tool-call", toolCallId: call.id, toolName: call.name, args: call.arguments }));
  yield { role: "assistant", id: "1", content: [{ type: "text", text }, ...calls] };
  for (const { toolCallId, toolName, text: result } of step.results) {
    const content = [{ type: "tool-result", toolCallId, toolName, result }];
    yield { role: "tool", id: toolCallId, content, providerOptions: { cursor: { highLevelToolCallResult: { isError: false } } } };
  }
}

/** The database of Cursor's editor with one chat. */
export function writeCursorEditor(path, bytes) {
  const database = openNew(path, "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)");
  const insert = database.prepare("INSERT INTO cursorDiskKV VALUES (?, ?)");
  const random = new Random(68);
  const chat = random.uuid();
  const shown = [];
  let written = 0;
  for (const bubble of cursorBubbles()) {
    const text = JSON.stringify(bubble);
    shown.push({ bubbleId: random.uuid(), type: bubble.type });
    insert.run(`bubbleId:${chat}:${shown.at(-1).bubbleId}`, text);
    written += text.length;
    if (written >= bytes && bubble.toolFormerData === undefined) break;
  }
  const record = { _v: 10, composerId: chat, name: "Bench", createdAt: START_MS, status: "completed", fullConversationHeadersOnly: shown };
  insert.run(`composerData:${chat}`, JSON.stringify(record));
  close(database);
}

function* cursorBubbles() {
  for (const step of steps(69)) {
    const bubble = (type, fields) => ({ _v: 3, type, createdAt: iso(step.atMs), context: {}, images: [], ...fields });
    yield bubble(step.kind === "prompt" ? 1 : 2, { text: step.text, richText: JSON.stringify({ root: { text: step.text } }) });
    for (const call of step.calls ?? []) {
      const result = JSON.stringify({ output: resultOf(step, call)?.text });
      const args = JSON.stringify(call.arguments);
      yield bubble(2, { text: "", toolFormerData: { name: call.name, toolCallId: call.id, rawArgs: args, status: "completed", result } });
    }
  }
}

export function openNew(path, schema) {
  const database = new Database(path);
  database.pragma("synchronous = off");
  database.exec(`${schema}; BEGIN`);
  return database;
}

export function close(database) {
  database.exec("COMMIT");
  database.close();
}

/** What an import is compared with: parsing the lines of a file. */
export function parseLines(path) {
  for (const line of readFileSync(path, "utf8").split("\n")) if (line !== "") JSON.parse(line);
}

/** Parsing the JSON files of a folder. */
export function parseFolder(folder) {
  for (const entry of readdirSync(folder, { recursive: true }))
    if (entry.endsWith(".json")) JSON.parse(readFileSync(join(folder, entry), "utf8"));
}

/** Reading every row of a database and parsing its JSON. */
export function parseRows(path) {
  const database = new Database(path, { readonly: true });
  for (const table of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all())
    for (const row of database.prepare(`SELECT * FROM "${table}"`).raw().iterate())
      for (const value of row) if (isJson(value)) JSON.parse(value);
  database.close();
}

function isJson(value) {
  return typeof value === "string" ? value.startsWith("{") : value instanceof Uint8Array && value[0] === 0x7b;
}

/** Writes a JSON file below a folder, and returns its size. */
export function writeJson(path, value) {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
  return statSync(path).size;
}
