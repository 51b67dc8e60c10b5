import { isObject, type JsonObject, numberAt, objectAt, stringAt, without } from "../../source/json.js";
import { type BoundaryFacts, type IndexedRecord, type NodeIndex, ROOT } from "./session-file.js";

/**
 * The compactions of a file while it is read.
 *
 * What a compaction kept word for word stays where it was first written. From the boundary on, its uuids stand for the
 * compaction: what hangs on them later, or on a second copy of them, continues after the compaction.
 */
export class Boundaries {
  readonly facts = new Map<NodeIndex, BoundaryFacts>();
  /** Where the records stand whose uuids now stand for a compaction. */
  readonly #kept = new Map<string, NodeIndex>();
  readonly #nodeOf: Map<string, NodeIndex>;
  #latest: NodeIndex = ROOT;

  constructor(nodeOf: Map<string, NodeIndex>) {
    this.#nodeOf = nodeOf;
  }

  /** Notes a boundary. */
  add(record: JsonObject, node: NodeIndex, parentMissing: boolean): void {
    const uuids = readKeptUuids(record);
    const known = uuids.flatMap((uuid) => this.#placeOf(uuid) ?? []);
    this.facts.set(node, { summary: undefined, firstKept: known[0], lastKept: known.at(-1), parentMissing });
    this.#latest = node;
    for (const uuid of uuids) this.#redirect(uuid, node);
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

  /** The boundary that a summary belongs to: the one it hangs on, or the one just before it; undefined: none. */
  attachSummary(summary: NodeIndex, parent: NodeIndex, records: readonly IndexedRecord[]): NodeIndex | undefined {
    let boundary = parent;
    while (records[boundary]?.kind === "noise") boundary = records[boundary]?.parent ?? ROOT;
    if (boundary < 0) boundary = this.#latest;
    const facts = this.facts.get(boundary);
    if (facts === undefined || facts.summary !== undefined) return undefined;
    facts.summary = summary;
    return boundary;
  }
}

/** What a compaction kept word for word, as far as the boundary says it: a segment names its two ends only. */
export function readKeptUuids(record: JsonObject): readonly string[] {
  const metadata = objectAt(record, "compactMetadata") ?? {};
  const listed = objectAt(metadata, "preservedMessages")?.uuids;
  if (Array.isArray(listed)) return listed.filter((uuid) => typeof uuid === "string");
  const segment = objectAt(metadata, "preservedSegment") ?? {};
  return [stringAt(segment, "headUuid"), stringAt(segment, "tailUuid")].filter((uuid) => uuid !== undefined);
}

/**
 * The compaction of a boundary and its summary.
 * @param firstKept id of the first entry that was kept word for word; null: none is on the path.
 */
export function toCompaction(boundary: JsonObject, summary: JsonObject, firstKept: string | null): JsonObject {
  const metadata = objectAt(boundary, "compactMetadata") ?? {};
  const rest = without(metadata, ["trigger", "preTokens", "postTokens"]);
  return {
    type: "compaction",
    summary: summaryText(summary),
    firstKeptEntryId: firstKept,
    ...tokens("tokensBefore", numberAt(metadata, "preTokens")),
    ...tokens("tokensAfter", numberAt(metadata, "postTokens")),
    ...triggerOf(stringAt(metadata, "trigger")),
    ...(Object.keys(rest).length === 0 ? {} : { compactMetadata: rest }),
  };
}

/** The compaction of a summary that no boundary announced; nothing else is known of it. */
export function toCompactionWithoutBoundary(summary: JsonObject): JsonObject {
  return { type: "compaction", summary: summaryText(summary), firstKeptEntryId: null };
}

function summaryText(record: JsonObject): string {
  const content = objectAt(record, "message")?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => (isObject(block) ? (stringAt(block, "text") ?? "") : ""));
  return texts.filter((text) => text !== "").join("\n");
}

function tokens(name: string, count: number | undefined): JsonObject {
  return count === undefined || count < 0 ? {} : { [name]: count };
}

// Claude Code calls "auto" what starts by itself when the context has grown to a threshold.
function triggerOf(trigger: string | undefined): JsonObject {
  return trigger === undefined ? {} : { trigger: trigger === "auto" ? "threshold" : trigger };
}
