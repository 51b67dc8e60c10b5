// Logs of other agents, made from the same messages in the shapes that the agents write.
import { readFileSync } from "node:fs";
import { Random } from "./random.mjs";
import { CWD, writeLines } from "./session-files.mjs";
import { messages } from "./world.mjs";

export const START_MS = Date.UTC(2026, 0, 5);

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

/** Events of Copilot CLI: each names the one before it. */
export function writeCopilotFile(path, bytes) {
  writeLines(path, bytes, copilotLines(new Random(71)));
}

function* copilotLines(random) {
  let parentId = null;
  const event = (atMs, type, data) => {
    const id = random.uuid();
    const line = { type, data, id, timestamp: iso(atMs), parentId };
    parentId = id;
    return line;
  };
  const context = { cwd: CWD, branch: "main" };
  yield event(START_MS, "session.start", {
    sessionId: random.uuid(),
    version: 1,
    producer: "copilot-agent",
    copilotVersion: "1.0.40",
    context,
  });
  for (const step of steps(72)) {
    const { text: content, atMs } = step;
    if (step.kind === "prompt") {
      yield event(atMs, "user.message", { content, transformedContent: content, attachments: [] });
      continue;
    }
    const toolRequests = step.calls.map((call) => ({ toolCallId: call.id, name: call.name, arguments: call.arguments, type: "function" }));
    yield event(atMs, "assistant.message", { messageId: random.uuid(), content, toolRequests, outputTokens: step.usage.output });
    for (const call of step.calls)
      yield event(atMs, "tool.execution_start", { toolCallId: call.id, toolName: call.name, arguments: call.arguments });
    for (const { toolCallId, text } of step.results)
      yield event(atMs, "tool.execution_complete", { toolCallId, success: true, result: { content: text, detailedContent: text } });
  }
}

/** The log of a chat of VS Code: each prompt adds a request, and its rounds of calls are set at its end. */
export function writeVscodeChat(path, bytes) {
  writeLines(path, bytes, vscodeLines(new Random(73)));
}

function* vscodeLines(random) {
  const head = { version: 3, sessionId: random.uuid(), creationDate: START_MS, responderUsername: "GitHub Copilot", requests: [] };
  yield { kind: 0, v: head };
  let at = -1;
  let toolCallRounds = [];
  let toolCallResults = {};
  for (const step of steps(74)) {
    if (step.kind === "prompt") {
      if (at >= 0) yield { kind: 1, k: ["requests", at, "result"], v: { metadata: { toolCallRounds, toolCallResults } } };
      at += 1;
      [toolCallRounds, toolCallResults] = [[], {}];
      const message = { text: step.text, parts: [] };
      const request = { requestId: random.uuid(), timestamp: step.atMs, message, modelId: "copilot/gpt-5", response: [], result: {} };
      yield { kind: 2, k: ["requests"], v: [request] };
      continue;
    }
    yield { kind: 2, k: ["requests", at, "response"], v: [{ value: step.text }] };
    const toolCalls = step.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: JSON.stringify(args) }));
    toolCallRounds.push({ id: random.uuid(), response: step.text, toolCalls });
    for (const { toolCallId, text } of step.results) toolCallResults[toolCallId] = { content: [{ value: text }] };
  }
}

/** What an import is compared with: parsing the lines of a file. */
export function parseLines(path) {
  for (const line of readFileSync(path, "utf8").split("\n")) if (line !== "") JSON.parse(line);
}
