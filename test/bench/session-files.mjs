import { closeSync, createWriteStream, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { exportBough } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { Random } from "./random.mjs";
import { messages } from "./world.mjs";

const START_MS = Date.UTC(2026, 0, 5);
export const CWD = "/home/dev/project";

/** Writes lines until the file has `bytes`; returns how many. */
export function writeLines(path, bytes, lines) {
  const file = openSync(path, "w");
  let written = 0;
  let count = 0;
  for (const line of lines) {
    written += writeSync(file, `${JSON.stringify(line)}\n`);
    count += 1;
    if (written >= bytes) break;
  }
  closeSync(file);
  return count;
}

/** Writes every session of a store to a folder, as Bough's JSONL. */
export async function writeBoughFiles(storePath, folder) {
  const store = await openStore({ path: storePath, mode: "read-only" });
  for (let cursor; ; ) {
    const page = await store.listSessions({ cursor });
    for (const { id } of page.items) {
      await pipeline(exportBough(await store.openSession(id), { secrets: "keep" }), createWriteStream(join(folder, `${id}.jsonl`)));
    }
    if (page.next === null) break;
    cursor = page.next;
  }
  await store.close();
}

/** A session file of pi, version 3, of about `bytes`. */
export function writePiFile(path, bytes, seed = 51) {
  writeLines(path, bytes, piLines(new Random(seed)));
}

/** The messages of a compacted session that come after its compaction. */
const AFTER_COMPACTION = 200;

/** A session file of pi, version 3, with `count` messages and a compaction before the last of them; returns the id of the session. */
export function writeCompactedPiFile(path, count) {
  const lines = [...take(piLines(new Random(55), count - AFTER_COMPACTION), count + 2)];
  writeLines(path, Number.POSITIVE_INFINITY, lines);
  return lines[0].id;
}

function* take(values, count) {
  let taken = 0;
  for (const value of values) {
    yield value;
    taken += 1;
    if (taken === count) return;
  }
}

/** `compactAfter`: the number of messages before a compaction that keeps the last of them. */
function* piLines(random, compactAfter = Number.POSITIVE_INFINITY) {
  yield { type: "session", version: 3, id: random.uuid(), timestamp: new Date(START_MS).toISOString(), cwd: CWD };
  let parentId = null;
  let atMs = START_MS;
  let count = 0;
  for (const message of messages(52)) {
    const id = random.id(8);
    atMs += 4000;
    const timestamp = new Date(atMs).toISOString();
    yield { type: "message", id, parentId, timestamp, message: { ...message, timestamp: atMs } };
    parentId = id;
    count += 1;
    if (count !== compactAfter) continue;
    parentId = random.id(8);
    yield { type: "compaction", id: parentId, parentId: id, timestamp, summary: SUMMARY, firstKeptEntryId: id, tokensBefore: 150_000 };
  }
}

const SUMMARY = "## Goal\nFinish the parser.\n\n## Progress\nThe lexer is done.";

/** A session file of Claude Code of about `bytes`: a line for each block of a reply, results repeated next to the message. */
export function writeClaudeFile(path, bytes) {
  writeLines(path, bytes, new ClaudeLines().all());
}

class ClaudeLines {
  #random = new Random(53);
  #sessionId = this.#random.uuid();
  #parentUuid = null;
  #lineOfCall = new Map();
  #atMs = START_MS;

  *all() {
    for (const message of messages(54)) yield* this.#linesOf(message);
  }

  *#linesOf(message) {
    if (message.role === "user") yield this.#line("user", { message: { role: "user", content: message.content } });
    else if (message.role === "toolResult") yield this.#result(message);
    else yield* this.#reply(message);
  }

  #line(type, rest, parentUuid = this.#parentUuid) {
    const uuid = this.#random.uuid();
    this.#atMs += 3000;
    this.#parentUuid = uuid;
    const place = { parentUuid, isSidechain: false, userType: "external", cwd: CWD, sessionId: this.#sessionId, version: "2.1.44" };
    return { ...place, gitBranch: "main", type, ...rest, uuid, timestamp: new Date(this.#atMs).toISOString() };
  }

  *#reply({ content, model, usage, stopReason }) {
    const counts = { input_tokens: usage.input, output_tokens: usage.output, cache_read_input_tokens: usage.cacheRead };
    const stop_reason = stopReason === "stop" ? "end_turn" : "tool_use";
    const head = { id: `msg_${this.#random.id(22)}`, type: "message", role: "assistant", model, stop_reason, stop_sequence: null };
    for (const block of content) {
      const line = this.#line("assistant", { message: { ...head, content: [claudeBlock(block)], usage: counts }, requestId: head.id });
      if (block.type === "toolCall") this.#lineOfCall.set(block.id, line.uuid);
      yield line;
    }
  }

  #result({ toolCallId, content, isError }) {
    const [{ text }] = content;
    const block = { tool_use_id: toolCallId, type: "tool_result", content: text, is_error: isError };
    const parent = this.#lineOfCall.get(toolCallId);
    this.#lineOfCall.delete(toolCallId);
    return this.#line(
      "user",
      { message: { role: "user", content: [block] }, toolUseResult: { stdout: text, stderr: "", interrupted: false } },
      parent,
    );
  }
}

function claudeBlock(block) {
  return block.type === "toolCall" ? { type: "tool_use", id: block.id, name: toolName(block.name), input: block.arguments } : block;
}

function toolName(name) {
  return name[0].toUpperCase() + name.slice(1);
}
