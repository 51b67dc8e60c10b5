// Databases and folders of other agents, made from the same messages in the shapes that the agents write.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { iso, resultOf, START_MS, steps } from "./agent-files.mjs";
import { Random } from "./random.mjs";
import { CWD } from "./session-files.mjs";

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
  const meta = {
    agentId: new Random(67).uuid(),
    latestRootBlobId: put(Buffer.concat(state)).toString("hex"),
    name: "Bench",
    createdAt: START_MS,
  };
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

const OPENCODE_TABLES = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
    revert TEXT, permission TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE INDEX message_session_idx ON message (session_id, time_created, id);
  CREATE INDEX part_message_idx ON part (message_id, id);
  CREATE INDEX part_session_idx ON part (session_id)`;

const OPENCODE_SESSION = "ses_000000000000AAAAAAAAAAAAAA";

/** A database of opencode with one session. */
export function writeOpencodeDatabase(path, bytes) {
  const database = openNew(path, OPENCODE_TABLES);
  const session = database.prepare("INSERT INTO session VALUES (?, 'p1', NULL, 'bench', ?, 'Bench', '1.18.33', NULL, NULL, ?, ?)");
  session.run(OPENCODE_SESSION, CWD, START_MS, START_MS);
  const message = database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  const part = database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
  let written = 0;
  for (const { id, atMs, info, parts } of opencodeMessages()) {
    const text = JSON.stringify(info);
    message.run(id, OPENCODE_SESSION, atMs, atMs, text);
    written += text.length;
    for (const [at, value] of parts.entries()) {
      const data = JSON.stringify(value);
      part.run(partId(id, at), id, OPENCODE_SESSION, atMs, atMs, data);
      written += data.length;
    }
    if (written >= bytes) break;
  }
  close(database);
}

/** The files of an older opencode with one session; returns the file of the session, which is imported. */
export function writeOpencodeFiles(folder, bytes) {
  const storage = join(folder, "storage");
  const session = join(storage, "session", "p1", `${OPENCODE_SESSION}.json`);
  const time = { created: START_MS, updated: START_MS };
  writeJson(session, { id: OPENCODE_SESSION, version: "1.1.65", projectID: "p1", directory: CWD, title: "Bench", time });
  writeFileSync(join(storage, "migration"), "2");
  let written = 0;
  for (const { id, info, parts } of opencodeMessages()) {
    written += writeJson(join(storage, "message", OPENCODE_SESSION, `${id}.json`), { id, sessionID: OPENCODE_SESSION, ...info });
    for (const [at, value] of parts.entries()) {
      const own = { id: partId(id, at), sessionID: OPENCODE_SESSION, messageID: id };
      written += writeJson(join(storage, "part", id, `${own.id}.json`), { ...own, ...value });
    }
    if (written >= bytes) break;
  }
  return session;
}

const partId = (message, at) => `prt_${message.slice(4)}${String(at).padStart(3, "0")}`;

function* opencodeMessages() {
  let count = 0;
  let parentID;
  for (const step of steps(70)) {
    const { text, atMs } = step;
    count += 1;
    const id = `msg_${String(count).padStart(12, "0")}AAAAAAAAAAAAAA`;
    if (step.kind === "prompt") {
      parentID = id;
      const model = { providerID: "anthropic", modelID: "claude-sonnet-5" };
      yield { id, atMs, info: { role: "user", time: { created: atMs }, agent: "build", model }, parts: [{ type: "text", text }] };
      continue;
    }
    const calls = step.calls.map((call) => opencodePart(call, resultOf(step, call), atMs));
    yield { id, atMs, info: opencodeReply(step, parentID), parts: [{ type: "step-start" }, { type: "text", text }, ...calls] };
  }
}

function opencodeReply({ atMs, usage }, parentID) {
  const tokens = { input: usage.input, output: usage.output, reasoning: 0, cache: { read: usage.cacheRead, write: 0 } };
  const model = { providerID: "anthropic", modelID: "claude-sonnet-5", mode: "build", agent: "build" };
  return {
    role: "assistant",
    parentID,
    ...model,
    path: { cwd: CWD, root: "/" },
    cost: 0,
    tokens,
    finish: "stop",
    time: { created: atMs, completed: atMs },
  };
}

function opencodePart({ id: callID, name, arguments: input }, result, atMs) {
  const state = { status: "completed", input, output: result?.text ?? "", title: name, metadata: {}, time: { start: atMs, end: atMs } };
  return { type: "tool", callID, tool: name, state };
}

/** Parsing the JSON files of a folder. */
export function parseFolder(session) {
  const folder = join(session, "../../..");
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

/** An object, or a list of objects; in a text, or in bytes. */
function isJson(value) {
  return typeof value === "string" ? /^(?:\{|\[\{)/.test(value) : value instanceof Uint8Array && value[0] === 0x7b;
}

function writeJson(path, value) {
  const text = JSON.stringify(value);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return text.length;
}
