import { basename, join } from "node:path";
import type { EntryId } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, stringAt, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { readHead, type SourceLine } from "../source/json-lines.js";
import { type LogConversation, readRecordLog } from "../source/record-log.js";
import type { SourceFormat } from "../source/source-format.js";
import { toPayload } from "./entries.js";
import { SkippedLines } from "./links.js";

/** Sessions of Tau: pi's entries under other names of their position, without a header. */
export const tauFormat: SourceFormat = {
  name: "tau",
  agents: [
    {
      name: "Tau",
      folders: ({ home }) => [join(home, ".tau", "sessions")],
      files: /\.jsonl$/,
    },
  ],
  detects: ({ records }) => records.some((record) => record.type === "session_info" && isPlaced(record)),
  sessions: (path) => [toSession(path)],
};

function isPlaced(record: JsonObject): boolean {
  return typeof record.id === "string" && (record.parent_id === null || typeof record.parent_id === "string");
}

function toSession(path: string): SourceSession {
  const info = readHead(path).records.find(({ type }) => type === "session_info") ?? {};
  const name = basename(path).replace(/\.jsonl$/, "");
  const header: SourceHeader = {
    sessionId: isId(name) ? name : derivedId("tau", name),
    kind: "conversation",
    createdAtMs: secondsAt(info, "created_at") ?? secondsAt(info, "timestamp"),
    cwd: stringAt(info, "cwd"),
    title: stringAt(info, "title") || undefined,
    metadata: without(info, ["type", "id", "parent_id", "timestamp", "created_at", "cwd", "title"]),
  };
  return { header, path, ...readRecordLog(path, (state) => new TauConversation(header, state)) };
}

/** Tau's times are seconds since 1970. */
function secondsAt(record: JsonObject, name: string): number | undefined {
  const seconds = numberAt(record, name);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

class TauConversation implements LogConversation {
  readonly isPending = false;
  /** Where a leaf entry after the last entry put the leaf. */
  #leafId: EntryId | null | undefined;
  readonly #header: SourceHeader;
  readonly #links: SkippedLines;
  #lastId: EntryId | null;
  #lastMs: number;

  constructor(header: SourceHeader, state: JsonObject = {}) {
    this.#header = header;
    this.#links = new SkippedLines(state.links);
    this.#lastId = stringAt(state, "lastId") ?? null;
    this.#lastMs = numberAt(state, "lastMs") ?? header.createdAtMs ?? 0;
  }

  get state(): JsonObject {
    return { links: this.#links.state, lastId: this.#lastId, lastMs: this.#lastMs };
  }

  *read(given: JsonObject, { number: line, text }: SourceLine): Generator<SourceRecord, void, void> {
    const { parent_id: above, timestamp: _, ...rest } = given;
    const parentId = typeof above === "string" ? above : above === null ? null : this.#lastId;
    const id = stringAt(given, "id") ?? derivedId(this.#header.sessionId, line, text);
    this.#lastMs = secondsAt(given, "timestamp") ?? this.#lastMs;
    switch (given.type) {
      case "session_info":
      case "label": {
        this.#links.add(id, parentId);
        const title = stringAt(given, given.type === "label" ? "label" : "title");
        if (title) yield { kind: "title", title, source: given.type === "label" ? "user" : "auto" };
        yield { kind: "merged", line };
        return;
      }
      case "leaf": {
        const target = stringAt(given, "entry_id");
        this.#links.add(id, parentId);
        this.#leafId = this.#links.entryFor(target ?? null);
        yield { kind: "merged", line };
        return;
      }
    }
    const record = { ...rest, ...modelOf(given) };
    const kept = stringAt(given, "first_kept_entry_id");
    const { payload } = toPayload(record, {
      links: this.#links,
      isBoughExport: false,
      isPromptKnown: false,
      firstKept: () => (kept === undefined ? null : this.#links.firstFrom(kept)),
    });
    const own = isId(id) ? id : derivedId(this.#header.sessionId, line, id);
    this.#lastId = own;
    this.#leafId = undefined;
    const body =
      isObject(payload) && payload.type !== "foreign" ? without(payload, ["id", "first_kept_entry_id"]) : { ...payload, raw: given };
    yield { kind: "entry", line, id: own, parentId: this.#links.entryFor(parentId), createdAtMs: this.#lastMs, payload: body };
    this.#links.addChild(parentId, own);
  }

  *finish(): Generator<SourceRecord, void, void> {
    if (this.#leafId !== undefined) yield { kind: "leaf", name: "main", entryId: this.#leafId };
  }
}

/** Tau's names of the members of a change of the model or the thinking level. */
function modelOf({ type, model, level }: JsonObject): JsonObject {
  if (type === "model_change" && typeof model === "string") return { modelId: model };
  return type === "thinking_level_change" && typeof level === "string" ? { thinkingLevel: level } : {};
}
