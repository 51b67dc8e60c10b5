import type { EntryId } from "@bough/session-core";
import { type EntryReference, type JsonObject, objectAt, stringAt, tryStringify, without } from "@bough/session-core/wire";
import { messagePayload } from "../source/payloads.js";
import { toResultPayload } from "./items.js";
import type { ModelFields } from "./settings.js";

/** An entry without its place in the tree. */
export interface RolloutEntry {
  readonly line: number;
  /** The number of the entry among those of its line. */
  readonly part: number;
  readonly createdAtMs: number | undefined;
  readonly payload: JsonObject;
  /** The entry of which it is a copy, in a rollout that Bough wrote. */
  readonly origin?: EntryReference | undefined;
  /** Its id, if the window has it. */
  readonly entryId?: EntryId;
}

/** The calls with one id. `next`: the number of the first one without an output, or of the last one. */
interface SameCalls {
  readonly calls: JsonObject[];
  next: number;
}

/** The number of open calls with one id that another one is compared with. */
const MOST_SAME = 20;

/** The position of an item, and the id of the entry that begins with it. */
export type ItemPlace = Omit<RolloutEntry, "payload" | "entryId"> & { readonly entryId: EntryId };

type Follower =
  | { readonly kind: "entry"; readonly entry: RolloutEntry }
  | { readonly kind: "result"; readonly place: ItemPlace; readonly item: JsonObject; readonly toolName: string | undefined };

/** The end of a request; undefined until a line records it. */
export type RequestEnd = "complete" | "aborted" | undefined;

/**
 * A request to the model whose lines are still read: the items of its reply, which become one entry, and the entries after it, such
 * as the outputs of its tools. Held until the next request, because the usage and the data of events may come after the outputs.
 */
export class OpenRequest {
  readonly #place: ItemPlace;
  readonly #model: ModelFields;
  readonly #items: JsonObject[] = [];
  readonly #blocks: JsonObject[] = [];
  /** The ids of its calls and items. */
  readonly #ids = new Set<string>();
  /** Its calls, by the id that the file gives them. */
  readonly #calls = new Map<string, SameCalls>();
  readonly #followers: Follower[] = [];
  readonly #details = new Map<string, JsonObject>();
  #usage: JsonObject | undefined;
  /** True if its usage was written after its items. */
  #isCounted = false;
  #isShown = false;
  /** The line of its last output. */
  #outputLine: number | undefined;

  constructor(place: ItemPlace, model: ModelFields, usage: JsonObject | undefined) {
    this.#place = place;
    this.#model = model;
    this.#usage = usage;
  }

  /**
   * True if the item at this line belongs to another request: the usage of this one was written after its items, or a tool has answered.
   * Early versions wrote the usage before the items, and each output below its call: there a call just below an output is of this request.
   */
  isBefore(line: number, blocks: readonly JsonObject[]): boolean {
    if (this.#isCounted) return true;
    if (this.#outputLine === undefined) return false;
    return this.#usage === undefined || line !== this.#outputLine + 1 || blocks.every(({ type }) => type !== "toolCall");
  }

  /** Adds an item, which gives these blocks. A call that is repeated is left out; another call with the id of an earlier one gets an id of its own. */
  addBlocks(blocks: readonly JsonObject[], item: JsonObject): void {
    this.#items.push(item);
    for (const block of blocks) {
      const id = block.type === "toolCall" ? stringAt(block, "id") : undefined;
      const added = id === undefined ? block : this.#addCall(id, block);
      if (added === undefined) continue;
      this.#blocks.push(added);
      const item = stringAt(objectAt(objectAt(block, "providerOptions") ?? {}, "openai") ?? objectAt(block, "raw") ?? {}, "itemId");
      for (const name of [id, item, stringAt(objectAt(block, "raw") ?? {}, "id")]) if (name !== undefined) this.#ids.add(name);
    }
  }

  /** The call under an id that no other one has; undefined: the reply has this call. */
  #addCall(id: string, call: JsonObject): JsonObject | undefined {
    const same = this.#calls.get(id) ?? { calls: [], next: 0 };
    const { calls, next } = same;
    const text = tryStringify(call.arguments);
    const open = calls.slice(Math.max(next, calls.length - MOST_SAME));
    if (open.some(({ name, arguments: args }) => name === call.name && tryStringify(args) === text)) return undefined;
    // An item that is known by its id, such as that of an image: providers reject a second one.
    if (calls.length === 0 && this.#ids.has(id)) return undefined;
    const added = calls.length === 0 ? call : { ...call, id: `${id}_${calls.length + 1}` };
    calls.push(added);
    this.#calls.set(id, same);
    return added;
  }

  /** True if the entry of this line is held. */
  holds(line: number): boolean {
    const last = this.#followers.at(-1);
    return line === this.#place.line || (last !== undefined && line === (last.kind === "entry" ? last.entry : last.place).line);
  }

  addEntry(entry: RolloutEntry): void {
    this.#followers.push({ kind: "entry", entry });
  }

  addResult(place: ItemPlace, item: JsonObject, toolName: string | undefined): void {
    const callId = stringAt(item, "call_id") ?? "";
    // Calls that have one id are answered in their order.
    const same = this.#calls.get(callId);
    const call = same?.calls[same.next];
    if (same !== undefined && same.next + 1 < same.calls.length) same.next += 1;
    const answered = call === undefined ? { item, toolName } : { item: { ...item, call_id: call.id }, toolName: stringAt(call, "name") };
    this.#followers.push({ kind: "result", place, ...answered });
    this.#outputLine = place.line;
  }

  /** The reply was said to the user, so it is not the summary of a compaction: Codex shows none. */
  show(): void {
    this.#isShown = true;
  }

  /** Sets the usage. Returns false if the request has one: then this is that of the next request, whose items come after their usage. */
  setUsage(usage: JsonObject): boolean {
    this.#isCounted = true;
    if (this.#usage !== undefined) return false;
    this.#usage = usage;
    return true;
  }

  /** Adds the facts of an event to its call. Returns false if the call is not of this request. */
  addEvent(given: JsonObject): boolean {
    const completed = given.type === "item_completed" ? objectAt(given, "item") : undefined;
    const event = completed ?? given;
    const id = stringAt(event, "call_id") ?? stringAt(event, "callId") ?? (completed && stringAt(completed, "id"));
    if (id === undefined || !this.#ids.has(id)) return false;
    this.#details.set(id, { ...this.#details.get(id), ...toDetails(event) });
    return true;
  }

  /** The place of its first item. */
  get place(): ItemPlace {
    return this.#place;
  }

  /** The items of its reply if that is only this text, and thoughts before it, and it was not said to the user. */
  replyOf(text: string): { readonly items: readonly JsonObject[]; readonly usage: JsonObject | undefined } | undefined {
    if (this.#isShown) return undefined;
    const others = this.#blocks.filter(({ type }) => type !== "thinking");
    const isText =
      others.every(({ type }) => type === "text") &&
      others
        .map((block) => stringAt(block, "text"))
        .join("\n")
        .trim() === text.trim();
    return isText && text.trim() !== "" ? { items: this.#items, usage: this.#usage } : undefined;
  }

  /** The entries in order: the reply, and those that followed it. */
  *entries(end: RequestEnd): Generator<RolloutEntry, void, void> {
    yield { ...this.#place, payload: this.#toReply(end) };
    yield* this.followers();
  }

  /** The entries after the reply. */
  *followers(): Generator<RolloutEntry, void, void> {
    for (const follower of this.#followers) {
      if (follower.kind === "entry") yield follower.entry;
      else yield { ...follower.place, payload: this.#toResult(follower.item, follower.toolName) };
    }
  }

  #toReply(end: RequestEnd): JsonObject {
    const stopReason = this.#stopReason(end);
    return messagePayload({ role: "assistant", content: this.#blocks, ...this.#model, usage: this.#usage, stopReason });
  }

  #stopReason(end: RequestEnd): string | undefined {
    if (this.#blocks.some(({ type }) => type === "toolCall")) return "toolUse";
    if (end === "aborted") return "aborted";
    return end === "complete" || this.#isCounted ? "stop" : undefined;
  }

  #toResult(item: JsonObject, toolName: string | undefined): JsonObject {
    return toResultPayload(item, toolName, this.#details.get(stringAt(item, "call_id") ?? "")) ?? {};
  }
}

// Members of events that name the call, or repeat it and its output.
const REPEATED = [
  "type",
  "id",
  "call_id",
  "callId",
  "turn_id",
  "turnId",
  "stdout",
  "stderr",
  "aggregated_output",
  "formatted_output",
  "result",
];

function toDetails(event: JsonObject): JsonObject {
  const details = without(event, [...REPEATED, "command", "invocation", "arguments"]);
  const isFailed = objectAt(event, "result")?.Err !== undefined || (typeof event.exit_code === "number" && event.exit_code !== 0);
  return isFailed ? { ...details, success: false } : details;
}
