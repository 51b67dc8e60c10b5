import type { JsonObject } from "../../source/json.js";
import { objectAt, stringAt, without } from "../../source/json.js";
import { toResultMessage } from "./items.js";
import type { ModelFields } from "./settings.js";

/** An entry without its place in the tree. */
export interface RolloutEntry {
  readonly line: number;
  /** The number of the entry among those of its line. */
  readonly part: number;
  readonly createdAtMs: number | undefined;
  readonly payload: JsonObject;
}

/** Where an item is. */
export type ItemPlace = Omit<RolloutEntry, "payload">;

type Follower =
  | { readonly kind: "entry"; readonly entry: RolloutEntry }
  | { readonly kind: "result"; readonly place: ItemPlace; readonly item: JsonObject; readonly toolName: string | undefined };

/** How a request ended: undefined while nothing says so. */
export type RequestEnd = "complete" | "aborted" | undefined;

/**
 * A request to the model whose lines are still read: the items of its reply, which become one entry, and the entries after it, such
 * as the outputs of its tools. Held until the next request, because the usage and the data of events may come after the outputs.
 */
export class OpenRequest {
  readonly #place: ItemPlace;
  readonly #model: ModelFields;
  readonly #blocks: JsonObject[] = [];
  /** The ids of its calls and items. */
  readonly #ids = new Set<string>();
  readonly #followers: Follower[] = [];
  readonly #details = new Map<string, JsonObject>();
  #usage: JsonObject | undefined;
  /** Whether its usage was written after its items. */
  #isCounted = false;
  /** The line of its last output. */
  #outputLine: number | undefined;

  constructor(place: ItemPlace, model: ModelFields, usage: JsonObject | undefined) {
    this.#place = place;
    this.#model = model;
    this.#usage = usage;
  }

  /**
   * Whether the item at this line is of another request: the usage of this one was written, or a tool has answered. Early versions
   * wrote the output of each call below it, so a call just below an output is still of this request.
   */
  isBefore(line: number, blocks: readonly JsonObject[]): boolean {
    if (this.#isCounted) return true;
    return this.#outputLine !== undefined && !(line === this.#outputLine + 1 && blocks.some(({ type }) => type === "toolCall"));
  }

  /** Adds the blocks of an item. A call that the reply has already is left out: providers reject it. */
  addBlocks(blocks: readonly JsonObject[]): void {
    for (const block of blocks) {
      const id = block.type === "toolCall" ? stringAt(block, "id") : undefined;
      if (id !== undefined && this.#ids.has(id)) continue;
      this.#blocks.push(block);
      const item = stringAt(objectAt(objectAt(block, "providerOptions") ?? {}, "openai") ?? objectAt(block, "raw") ?? {}, "itemId");
      for (const name of [id, item, stringAt(objectAt(block, "raw") ?? {}, "id")]) if (name !== undefined) this.#ids.add(name);
    }
  }

  /** Whether the entry of this line is held. */
  holds(line: number): boolean {
    const last = this.#followers.at(-1);
    return line === this.#place.line || (last !== undefined && line === (last.kind === "entry" ? last.entry : last.place).line);
  }

  addEntry(entry: RolloutEntry): void {
    this.#followers.push({ kind: "entry", entry });
  }

  addResult(place: ItemPlace, item: JsonObject, toolName: string | undefined): void {
    this.#followers.push({ kind: "result", place, item, toolName });
    this.#outputLine = place.line;
  }

  /** Sets the usage. False: the request has one, so this is that of the next request, whose items come after their usage. */
  setUsage(usage: JsonObject): boolean {
    this.#isCounted = true;
    if (this.#usage !== undefined) return false;
    this.#usage = usage;
    return true;
  }

  /** Adds what an event says of a call of this request. False: the call is not of this request. */
  addEvent(given: JsonObject): boolean {
    const completed = given.type === "item_completed" ? objectAt(given, "item") : undefined;
    const event = completed ?? given;
    const id = stringAt(event, "call_id") ?? stringAt(event, "callId") ?? (completed && stringAt(completed, "id"));
    if (id === undefined || !this.#ids.has(id)) return false;
    this.#details.set(id, { ...this.#details.get(id), ...toDetails(event) });
    return true;
  }

  /** The entries in order: the reply, and what followed it. */
  *entries(end: RequestEnd): Generator<RolloutEntry, void, void> {
    yield { ...this.#place, payload: { type: "message", message: this.#toReply(end) } };
    for (const follower of this.#followers) {
      if (follower.kind === "entry") yield follower.entry;
      else yield { ...follower.place, payload: { type: "message", message: this.#toResult(follower.item, follower.toolName) } };
    }
  }

  #toReply(end: RequestEnd): JsonObject {
    const stopReason = this.#stopReason(end);
    return {
      role: "assistant",
      content: this.#blocks,
      ...this.#model,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(stopReason === undefined ? {} : { stopReason }),
    };
  }

  #stopReason(end: RequestEnd): string | undefined {
    if (this.#blocks.some(({ type }) => type === "toolCall")) return "toolUse";
    if (end === "aborted") return "aborted";
    return end === "complete" || this.#isCounted ? "stop" : undefined;
  }

  #toResult(item: JsonObject, toolName: string | undefined): JsonObject {
    return toResultMessage(item, toolName, this.#details.get(stringAt(item, "call_id") ?? "")) ?? {};
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
