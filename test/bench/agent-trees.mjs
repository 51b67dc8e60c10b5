// Logs of Qwen Code, Kimi Code, Droid, Antigravity and Grok Build, and a database of Hermes, made from the same messages.
import { close, openNew } from "./agent-databases.mjs";
import { iso, resultOf, START_MS, steps } from "./agent-files.mjs";
import { Random } from "./random.mjs";
import { CWD, writeLines } from "./session-files.mjs";

const outputOf = (reply, call) => resultOf(reply, call)?.text ?? "";

/** Gives each record an id and the one before it. */
function* tree(random, records, write) {
  let parent = null;
  for (const record of records) {
    const id = random.uuid();
    yield write(record, id, parent);
    parent = id;
  }
}

export function writeQwenFile(path, bytes) {
  const random = new Random(71);
  const session = { sessionId: random.uuid(), cwd: CWD, version: "0.24.4" };
  const place = ({ atMs, ...record }, uuid, parentUuid) => ({ uuid, parentUuid, ...session, timestamp: iso(atMs), ...record });
  writeLines(path, bytes, tree(random, qwenRecords(), place));
}

function* qwenRecords() {
  for (const { kind, text, atMs, usage, ...reply } of steps(71)) {
    if (kind === "prompt") yield { atMs, type: "user", message: { role: "user", parts: [{ text }] } };
    else {
      const calls = reply.calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } }));
      const usageMetadata = {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      };
      yield { atMs, type: "assistant", model: "qwen3", message: { role: "model", parts: [{ text }, ...calls] }, usageMetadata };
      for (const call of reply.calls) {
        const functionResponse = { id: call.id, name: call.name, response: { output: outputOf(reply, call) } };
        yield {
          atMs,
          type: "tool_result",
          message: { role: "user", parts: [{ functionResponse }] },
          toolCallResult: { callId: call.id, status: "success" },
        };
      }
    }
  }
}

export function writeDroidFile(path, bytes) {
  writeLines(path, bytes, droidLines(new Random(72)));
}

function* droidLines(random) {
  yield { type: "session_start", id: random.uuid(), title: "Bench", version: 2, cwd: CWD };
  const place = ({ atMs, ...message }, id, parentId) => ({
    type: "message",
    id,
    ...(parentId === null ? {} : { parentId }),
    timestamp: iso(atMs),
    message,
  });
  yield* tree(random, droidMessages(), place);
}

function* droidMessages() {
  for (const { kind, text, atMs, ...reply } of steps(72)) {
    const block = { type: "text", text };
    if (kind === "prompt") yield { atMs, role: "user", content: [block] };
    else {
      const calls = reply.calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input }));
      yield { atMs, role: "assistant", content: [block, ...calls], modelId: "glm" };
      const results = reply.calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: outputOf(reply, call) }));
      if (results.length > 0) yield { atMs, role: "user", content: results };
    }
  }
}

export function writeKimiFile(path, bytes) {
  writeLines(path, bytes, kimiLines(new Random(73)));
}

function* kimiLines(random) {
  yield { type: "metadata", protocol_version: "1.5", created_at: START_MS };
  for (const { kind, text, atMs: time, usage, ...reply } of steps(73)) {
    const content = [{ type: "text", text }];
    const message = { role: "user", content, id: random.uuid(), toolCalls: [], origin: { kind: "user" } };
    if (kind === "prompt") yield { type: "context.append_message", agentId: "main", message, time };
    else {
      const uuid = random.uuid();
      const event = (more) => ({ type: "context.append_loop_event", agentId: "main", event: more, time });
      yield event({ type: "step.begin", uuid });
      yield event({ type: "content.part", stepUuid: uuid, part: content[0] });
      for (const { id, name, arguments: args } of reply.calls)
        yield event({ type: "tool.call", stepUuid: uuid, toolCallId: id, name, args });
      for (const call of reply.calls) yield event({ type: "tool.result", toolCallId: call.id, result: { output: outputOf(reply, call) } });
      const counts = { inputOther: usage.input, output: usage.output, inputCacheRead: 0, inputCacheCreation: 0 };
      yield event({ type: "step.end", uuid, usage: counts, finishReason: "end_turn" });
    }
  }
}

export function writeAntigravityFile(path, bytes) {
  writeLines(path, bytes, antigravityLines());
}

function* antigravityLines() {
  let index = 0;
  for (const { kind, text, atMs, ...reply } of steps(74)) {
    const step = (source, type, more) => ({ step_index: index++, source, type, status: "DONE", created_at: iso(atMs), ...more });
    if (kind === "prompt") yield step("USER_EXPLICIT", "USER_INPUT", { content: `<USER_REQUEST>\n${text}\n</USER_REQUEST>` });
    else {
      const values = (args) => Object.fromEntries(Object.entries(args).map(([name, value]) => [name, JSON.stringify(value)]));
      const calls = reply.calls.map(({ name, arguments: args }) => ({ name, args: values(args) }));
      yield step("MODEL", "PLANNER_RESPONSE", { content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) });
      for (const call of reply.calls) yield step("MODEL", "GENERIC", { content: outputOf(reply, call) });
    }
  }
}

export function writeGrokFile(path, bytes) {
  writeLines(path, bytes, grokLines(new Random(75)));
}

function* grokLines(random) {
  const sessionId = random.uuid();
  let [event, promptIndex] = [0, 0];
  for (const { kind, text, atMs, usage, ...reply } of steps(75)) {
    const update = (sessionUpdate, more) => {
      event += 1;
      const meta = { eventId: `${sessionId}-${event}`, agentTimestampMs: atMs, streamStartMs: atMs };
      return {
        timestamp: Math.trunc(atMs / 1000),
        method: "session/update",
        params: { sessionId, update: { sessionUpdate, ...more }, _meta: meta },
      };
    };
    const content = { type: "text", text };
    if (kind === "prompt") yield update("user_message_chunk", { content, _meta: { modelId: "grok", promptIndex: promptIndex++ } });
    else {
      yield update("agent_message_chunk", { content });
      for (const { id, name, arguments: rawInput } of reply.calls) yield update("tool_call", { toolCallId: id, title: name, rawInput });
      for (const call of reply.calls) {
        const shown = { type: "content", content: { type: "text", text: outputOf(reply, call) } };
        yield update("tool_call_update", { toolCallId: call.id, status: "completed", content: [shown] });
      }
      yield update("turn_completed", { stop_reason: "end_turn", usage: { inputTokens: usage.input, outputTokens: usage.output } });
    }
  }
}

const HERMES_TABLES = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, started_at REAL, title TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT)`;

export function writeHermesDatabase(path, bytes) {
  const database = openNew(path, HERMES_TABLES);
  database.prepare("INSERT INTO sessions VALUES ('bench', 'cli', 'hermes', ?, 'Bench')").run(START_MS / 1000);
  const insert = database.prepare("INSERT INTO messages VALUES (NULL, 'bench', ?, ?, ?, ?, ?, ?, NULL)");
  let written = 0;
  for (const { kind, text, atMs, ...reply } of steps(76)) {
    const calls = (reply.calls ?? []).map(({ id, name, arguments: args }) => ({ id, function: { name, arguments: JSON.stringify(args) } }));
    const called = calls.length === 0 ? null : JSON.stringify(calls);
    insert.run(kind === "prompt" ? "user" : "assistant", text, null, called, null, atMs / 1000);
    written += text.length + (called?.length ?? 0);
    for (const call of reply.calls ?? []) {
      const output = outputOf(reply, call);
      insert.run("tool", output, call.id, null, call.name, atMs / 1000);
      written += output.length;
    }
    if (written >= bytes) break;
  }
  close(database);
}
