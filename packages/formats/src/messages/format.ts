import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, stringAt, tryStringify } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { type DocumentPart, isDocument, readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { readHead, readJsonValues } from "../source/json-lines.js";
import { statPath } from "../source/source-file.js";
import type { FileHead, SourceFormat } from "../source/source-format.js";
import { isMessage, otherMembers, timeOf, toMessages } from "./message.js";

/**
 * Messages of OpenAI (chat completions), Anthropic or the AI SDK that a program saved: an array, an object with `messages`, a message a
 * line, or several conversations, each an array or an object. Any program may write such files, so every value at the start of the
 * file must have this shape.
 */
export const messagesFormat: SourceFormat = { name: "messages", detects: (head) => shapeOf(head) !== undefined, sessions };

const LISTS = ["messages"];

/** The layout of a file: a conversation as one document or as a message a line, or several conversations. */
type Shape = "document" | "lines" | "documents" | "document-lines";

function shapeOf(head: FileHead): Shape | undefined {
  const { lines, document } = head;
  if (!isDocument(head) || isMessage(document))
    return most(lines, isMessage) ? "lines" : most(lines, isConversation) ? "document-lines" : undefined;
  const { elements } = readDocumentHead(head, LISTS);
  return most(elements, isMessage) ? "document" : most(elements, isConversation) ? "documents" : undefined;
}

/** True if the first value and more than half of the first values are wanted: lines of a file may be damaged. */
function most(values: readonly unknown[], isWanted: (value: unknown) => boolean): boolean {
  const [first, ...others] = values.slice(0, MOST_VALUES);
  return isWanted(first) && others.filter(isWanted).length * 2 >= others.length;
}

const MOST_VALUES = 50;

function isConversation(value: unknown): boolean {
  const messages = isObject(value) ? value.messages : value;
  return Array.isArray(messages) && messages.length > 0 && most(messages, isMessage);
}

function* sessions(path: string): Generator<SourceSession, void, void> {
  const head = readHead(path);
  const shape = shapeOf(head);
  if (shape === "documents" || shape === "document-lines") yield* conversations(path, shape);
  else yield conversation(path, head, shape === "lines");
}

function conversation(path: string, head: FileHead, isLines: boolean): SourceSession {
  const { members, elements } = isLines ? { members: {}, elements: head.lines } : readDocumentHead(head, LISTS);
  const header = toHeader(path, members, [basename(path), digest(elements[0])]);
  return { header, path, records: () => new Reader(header).read(isLines ? messageLines(path) : readJsonDocument(path, LISTS)) };
}

/** The lines of a file as the elements of a list. */
function* messageLines(path: string): Generator<DocumentPart, void, void> {
  for (const read of readJsonValues(path)) {
    if (read.kind === "problem") yield read;
    else yield { kind: "element", list: "", index: read.line.number - 1, value: read.value, line: read.line.number };
  }
}

/** Each conversation of a file. The problems after it are its own, those before the first one are of this one. */
function* conversations(path: string, shape: Shape): Generator<SourceSession, void, void> {
  let [at, problems]: [number, SourceRecord[]] = [0, []];
  let last: Conversation | undefined;
  for (const part of shape === "documents" ? readJsonDocument(path, LISTS) : messageLines(path)) {
    if (part.kind === "problem") problems.push(part);
    if (part.kind !== "element") continue;
    if (last !== undefined) {
      yield toSession(path, last, problems);
      problems = [];
    }
    last = { at, value: part.value, line: part.line };
    at += 1;
  }
  if (last !== undefined) yield toSession(path, last, problems);
}

/** A conversation of several in a file. */
interface Conversation {
  readonly at: number;
  readonly value: unknown;
  readonly line: number;
}

function toSession(path: string, { at, value, line }: Conversation, problems: readonly SourceRecord[]): SourceSession {
  const members = isObject(value) ? value : {};
  const messages: unknown = isObject(value) ? value.messages : value;
  const list: readonly unknown[] = Array.isArray(messages) && messages.length > 0 ? messages : [value];
  const header = toHeader(path, members, [basename(path), at, digest(list[0])]);
  return {
    header,
    path,
    *records() {
      yield* problems;
      yield* new Reader(header).read(partsOf(members, list, line));
    },
  };
}

function* partsOf(members: JsonObject, list: readonly unknown[], line: number): Generator<DocumentPart, void, void> {
  for (const [name, value] of Object.entries(members)) if (name !== "messages") yield { kind: "member", name, value, line };
  for (const [index, value] of list.entries()) yield { kind: "element", list: "messages", index, value, line };
}

function digest(value: unknown): string {
  return createHash("sha256")
    .update(tryStringify(value) ?? "")
    .digest("hex");
}

const IDS = ["id", "sessionId", "session_id", "conversationId", "conversation_id", "chatId", "chat_id", "threadId", "thread_id"];
const TITLES = ["title", "name"];

/** `identity`: the values from which the id is derived if the file has none: the name of the file and the first message. */
function toHeader(path: string, members: JsonObject, identity: readonly (string | number)[]): SourceHeader {
  const id = IDS.map((name) => members[name]).find((value) => typeof value === "string" && isId(value));
  return {
    sessionId: typeof id === "string" ? id : derivedId("messages", ...identity),
    createdAtMs: timeOf(members) ?? Math.trunc(statPath(path).mtimeMs),
    cwd: stringAt(members, "cwd"),
    title: TITLES.map((name) => stringAt(members, name)).find((title) => title !== undefined && title.trim() !== ""),
    kind: "conversation",
  };
}

const IN_HEADER = new Set([...IDS, ...TITLES, "cwd"]);

/** Reads the messages of one conversation. */
class Reader {
  readonly #chain: EntryChain;
  readonly #sessionId: string;

  constructor({ sessionId, createdAtMs = 0 }: SourceHeader) {
    this.#sessionId = sessionId;
    this.#chain = new EntryChain(sessionId, createdAtMs);
  }

  *read(parts: Iterable<DocumentPart>): Generator<SourceRecord, void, void> {
    for (const part of parts) {
      if (part.kind === "problem") yield part;
      else if (part.kind === "member") yield* this.#member(part.name, part.value, part.line);
      else yield* this.#message(part.value, part.index, part.line);
    }
  }

  *#member(name: string, value: unknown, line: number): Generator<SourceRecord, void, void> {
    const id = derivedId(this.#sessionId, "member", name);
    const system = name === "system" || name === "instructions" ? toMessages({ role: "system", content: value }) : [];
    if (system[0] !== undefined) yield this.#chain.add({ line, id, payload: { type: "message", message: system[0] } });
    else if (name === "model" && typeof value === "string")
      yield this.#chain.add({ line, id, payload: { type: "model_change", modelId: value } });
    else if (!IN_HEADER.has(name))
      yield this.#chain.add({ line, id, payload: { type: "custom", customType: `messages.${name}`, data: value } });
  }

  *#message(value: unknown, index: number, line: number): Generator<SourceRecord, void, void> {
    const messages = isMessage(value) ? toMessages(value) : [];
    const own = isObject(value) ? stringAt(value, "id") : undefined;
    const id = own !== undefined && isId(own) ? own : derivedId(this.#sessionId, index, "message");
    const createdAtMs = isObject(value) ? timeOf(value) : undefined;
    const others = isObject(value) ? otherMembers(value) : {};
    if (messages.length === 0) {
      const originalType = isObject(value) ? (stringAt(value, "type") ?? stringAt(value, "role") ?? "unknown") : typeof value;
      yield this.#chain.add({ line, id, createdAtMs, payload: { type: "foreign", originalType, raw: value } });
    }
    for (const [part, message] of messages.entries()) {
      const rest = part === 0 && Object.keys(others).length > 0 ? { messages: others } : {};
      yield this.#chain.add({ line, id, part, createdAtMs, payload: { type: "message", message, ...rest } });
    }
  }
}
