import type { EntryId, SessionId } from "@bough/session-core";
import { RUNNING_MS, type SourceHeader, type SourceRecord } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, objectAt, parseJsonObject, parseTime, stringAt } from "@bough/session-core/wire";
import { agentSessionId, derivedId } from "../source/derived-id.js";
import type { SourceLine } from "../source/json-lines.js";
import { SourceFileReader } from "../source/source-file.js";
import { EventConversation } from "./conversation.js";

/** The agent of an event: the id of the call that started it. undefined: the conversation itself, also when it reports of an agent. */
export function agentOf(event: JsonObject): string | undefined {
  if (stringAt(event, "type")?.startsWith("subagent.") === true) return undefined;
  return stringAt(event, "agentId") || stringAt(objectAt(event, "data") ?? {}, "parentToolCallId") || undefined;
}

const MESSAGES = new Set<unknown>(["user.message", "assistant.message"]);

/** The place of an event in the file. */
interface EventPlace {
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The call that started an agent. */
interface StartingCall {
  readonly line: number;
  readonly prompt: string;
  readonly title: string | undefined;
  /** The agent that made the call; undefined: the conversation. */
  readonly caller: string | undefined;
  /** The entry of the reply with the call; undefined: not known. */
  readonly entryId: EntryId | undefined;
}

/** The known facts of an agent. */
interface Agent {
  readonly places: EventPlace[];
  createdAtMs: number | undefined;
  about: JsonObject;
  /** The call that started it: its own id in older versions, which write no other. */
  callId: string;
  /** True if its events have its prompt; undefined: there is no message yet. */
  hasPrompt: boolean | undefined;
}

/** Collects the agents of a session: the places of their events, and the calls that started them. Memory: three numbers an event. */
export class AgentIndex {
  readonly #agents = new Map<string, Agent>();
  readonly #calls = new Map<string, StartingCall>();
  readonly #sessionId: SessionId;

  constructor(sessionId: SessionId) {
    this.#sessionId = sessionId;
  }

  /** Adds an event. */
  add(event: JsonObject, { number: line, offset, bytes }: SourceLine): void {
    const key = agentOf(event);
    if (key !== undefined) {
      const agent = this.#agentAt(key);
      agent.createdAtMs ??= parseTime(event.timestamp);
      agent.places.push({ line, offset, bytes });
      if (MESSAGES.has(event.type)) agent.hasPrompt ??= event.type === "user.message";
    }
    const data = objectAt(event, "data") ?? {};
    if (event.type === "assistant.message") this.#addCalls(data, { line, caller: key, entryId: entryIdOf(event, data) });
    if (event.type === "subagent.started") this.#addStart(event, data);
  }

  #addStart(event: JsonObject, data: JsonObject): void {
    const callId = stringAt(data, "toolCallId");
    // Up to 1.0.40, the id of an agent is that of its call; later it has one of its own.
    const key = stringAt(event, "agentId") || callId;
    if (key === undefined) return;
    const agent = this.#agentAt(key);
    agent.about = scalarsIn(data);
    agent.callId = callId ?? key;
  }

  #agentAt(key: string): Agent {
    const known = this.#agents.get(key) ?? { places: [], createdAtMs: undefined, about: {}, callId: key, hasPrompt: undefined };
    this.#agents.set(key, known);
    return known;
  }

  #addCalls({ toolRequests }: JsonObject, place: Pick<StartingCall, "line" | "caller" | "entryId">): void {
    if (!Array.isArray(toolRequests)) return;
    for (const request of toolRequests.filter(isObject)) {
      const id = stringAt(request, "toolCallId");
      const args = objectAt(request, "arguments") ?? parseJsonObject(stringAt(request, "arguments") ?? "") ?? {};
      const prompt = stringAt(args, "prompt");
      if (id !== undefined && prompt !== undefined) this.#calls.set(id, { ...place, prompt, title: stringAt(args, "description") });
    }
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0;
  }

  /** The agents of which there are events, in the order of their first ones. */
  get keys(): readonly string[] {
    return [...this.#agents].filter(([, { places }]) => places.length > 0).map(([key]) => key);
  }

  header(key: string, cwd: string | undefined): SourceHeader {
    const { createdAtMs, about, callId } = this.#agentAt(key);
    const call = this.#calls.get(callId);
    const caller = call?.caller === undefined || call.caller === key ? this.#sessionId : agentSessionId(this.#sessionId, call.caller);
    const title = call?.title || stringAt(about, "agentDisplayName") || undefined;
    return {
      sessionId: agentSessionId(this.#sessionId, key),
      kind: "subagent",
      createdAtMs,
      cwd,
      title,
      parent: { sessionId: caller, ...(call === undefined ? {} : { entryId: call.entryId, toolCallId: callId }) },
      metadata: Object.keys(about).length === 0 ? {} : { agent: about },
    };
  }

  /** The records of an agent. Without a prompt among its events, as older versions write them, its prompt is that of the call. */
  *records(key: string, path: string): Generator<SourceRecord, void, void> {
    const { places, createdAtMs, callId, hasPrompt } = this.#agentAt(key);
    const sessionId = agentSessionId(this.#sessionId, key);
    const call = hasPrompt === true ? undefined : this.#calls.get(callId);
    const conversation = new EventConversation(sessionId, createdAtMs ?? 0, { isAgent: true });
    const file = new SourceFileReader(path);
    try {
      for (const [at, { line, offset, bytes }] of places.entries()) {
        const event = parseJsonObject(
          file
            .bytesAt(offset, bytes)
            .toString("utf8")
            .replace(/^\uFEFF/, ""),
        );
        if (event === undefined) {
          const message = "the line changed while the file was read; it was left out";
          yield { kind: "problem", problem: { code: "malformed-line", path, line, message } };
          continue;
        }
        if (at === 0 && call !== undefined) yield conversation.addPrompt(call.prompt, call.line, derivedId(sessionId, "prompt"));
        yield* conversation.read(event, line);
      }
      if (conversation.isPending) yield { kind: "open", waitMs: RUNNING_MS };
      yield* conversation.finish();
    } finally {
      file.close();
    }
  }
}

/** The texts, flags and finite numbers among the members: other metadata could not be stored, and the session would be lost with it. */
export function scalarsIn(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => ["string", "boolean"].includes(typeof value) || Number.isFinite(value)),
  );
}

/** The entry of a reply: that of its first chunk, whose id is not known here in the others. */
function entryIdOf({ id }: JsonObject, { chunkIndex }: JsonObject): EntryId | undefined {
  return typeof id === "string" && isId(id) && (chunkIndex === undefined || chunkIndex === 0) ? id : undefined;
}
