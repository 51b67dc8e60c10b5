import { nativeCompactionOf } from "@bough/session-core";
import {
  isCompactionBlock,
  isObject,
  type JsonObject,
  listIterations,
  objectAt,
  stringAt,
  textsAt,
  toOwnUsage,
  without,
} from "@bough/session-core/wire";
import { compactionPayload, type KeptEntries, messagePayload, withOthers } from "../source/payloads.js";
import { isNoise } from "./record-kind.js";
import type { RecordTable } from "./record-table.js";
import { type BoundaryFacts, type NodeIndex, ROOT } from "./session-file.js";
import type { UuidMap } from "./uuid-map.js";

/**
 * Collects the compactions of a file.
 *
 * Records that a compaction kept stay at their first position. After the boundary, their uuids refer to the compaction: a later
 * child of them, or of a second copy of them, continues after the compaction.
 */
export class Boundaries {
  readonly facts = new Map<NodeIndex, BoundaryFacts>();
  /** The records whose uuids now refer to a compaction. */
  readonly #kept = new Map<string, NodeIndex>();
  readonly #nodeOf: UuidMap;
  /** The records that a compaction kept and that did not come before it. */
  readonly #awaited = new Map<string, NodeIndex>();
  #latest: NodeIndex = ROOT;

  constructor(nodeOf: UuidMap) {
    this.#nodeOf = nodeOf;
  }

  /** Adds a boundary. */
  add(record: JsonObject, node: NodeIndex, isParentMissing: boolean): void {
    const { uuids, isListed, anchor } = readKept(record);
    const kept = uuids.flatMap((uuid) => this.#placeOf(uuid) ?? []);
    const isBefore = anchor === record.uuid;
    this.facts.set(node, { summary: undefined, kept, isListed, isBefore, isParentMissing, isFollowed: false });
    this.#latest = node;
    for (const uuid of uuids) if (this.#placeOf(uuid) === undefined) this.#awaited.set(uuid, node);
    for (const uuid of uuids) this.#redirect(uuid, node);
  }

  /** Adds a record of the conversation that is not a copy of an earlier one. */
  addStep(uuid: string): void {
    const facts = this.facts.get(this.#awaited.get(uuid) ?? ROOT);
    if (facts !== undefined) facts.isFollowed = true;
  }

  #placeOf(uuid: string): NodeIndex | undefined {
    return this.#kept.get(uuid) ?? this.#nodeOf.get(uuid);
  }

  #redirect(uuid: string, boundary: NodeIndex): void {
    const place = this.#placeOf(uuid);
    if (place === undefined || place === boundary) return;
    this.#kept.set(uuid, place);
    this.#nodeOf.set(uuid, boundary);
  }

  /** Assigns a summary to its boundary: its parent, or the last boundary before it. Returns the boundary; undefined if there is none. */
  attachSummary(summary: NodeIndex, parent: NodeIndex, records: RecordTable): NodeIndex | undefined {
    let boundary = parent;
    while (isNoise(records.get(boundary)?.kind)) boundary = records.get(boundary)?.parent ?? ROOT;
    if (boundary < 0) boundary = this.#latest;
    const facts = this.facts.get(boundary);
    if (facts === undefined || facts.summary !== undefined) return undefined;
    facts.summary = summary;
    return boundary;
  }
}

/** The records that a compaction kept; of a segment, only its two ends are recorded. `anchor`: the record behind which they go on. */
export function readKept(record: JsonObject): {
  readonly uuids: readonly string[];
  readonly isListed: boolean;
  readonly anchor: string | undefined;
} {
  const metadata = objectAt(record, "compactMetadata") ?? {};
  const listed = objectAt(metadata, "preservedMessages") ?? {};
  const segment = objectAt(metadata, "preservedSegment") ?? {};
  const isListed = Array.isArray(listed.uuids);
  const uuids = isListed ? textsAt(listed, "uuids") : [stringAt(segment, "headUuid"), stringAt(segment, "tailUuid")];
  return { uuids: uuids.filter((uuid) => uuid !== undefined), isListed, anchor: stringAt(isListed ? listed : segment, "anchorUuid") };
}

/**
 * The payload of a boundary and its summary.
 */
export function toCompaction(boundary: JsonObject, summary: JsonObject, kept: KeptEntries): JsonObject {
  const metadata = objectAt(boundary, "compactMetadata") ?? {};
  const rest = without(metadata, ["trigger", "preTokens", "postTokens", "native"]);
  const native = nativeCompactionOf({ details: metadata });
  const trigger = stringAt(metadata, "trigger");
  const payload = compactionPayload({
    summary: summaryText(summary),
    kept,
    tokensBefore: metadata.preTokens,
    tokensAfter: metadata.postTokens,
    // Claude Code's "auto" is a compaction at a threshold.
    trigger: trigger === "auto" ? "threshold" : trigger,
    details: native && { native },
  });
  return withOthers(payload, "compactMetadata", rest);
}

/**
 * The payloads of a reply: its message; or where Anthropic's API compacted the conversation inside it, the compaction with its block, and
 * what the reply says before and after it.
 */
export function toReplyPayloads(message: JsonObject): readonly JsonObject[] {
  const content = Array.isArray(message.content) ? message.content.filter(isObject) : [];
  const at = content.findLastIndex((block) => block.originalType === "compaction" && isCompactionBlock(block.raw));
  const block = content[at]?.raw;
  if (!isCompactionBlock(block)) return [messagePayload(message)];
  const { provider, model } = message;
  const made = { provider: stringAt(message, "provider") ?? "anthropic", ...(typeof model === "string" ? { model } : {}) };
  const usage = listIterations(objectAt(message, "usage")).find(({ type }) => type === "compaction");
  const compaction = compactionPayload({
    summary: block.content,
    trigger: "provider",
    details: { native: { ...made, items: [block], readable: true } },
    usage: usage && { ...toOwnUsage(usage, "usage") },
  });
  const [before, after] = [content.slice(0, at), content.slice(at + 1)];
  const first = before.length === 0 ? [] : [messagePayload({ role: "assistant", content: before, provider, model })];
  return [...first, { ...compaction, ...made }, ...(after.length === 0 ? [] : [messagePayload({ ...message, content: after })])];
}

/** The text of a summary: the whole of its record's message. */
export function summaryText(record: JsonObject): string {
  const content = objectAt(record, "message")?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => (isObject(block) ? (stringAt(block, "text") ?? "") : ""));
  return texts.filter((text) => text !== "").join("\n");
}
