import type { EntryId, ImportProblem } from "@bough/session-core";
import { type JsonObject, quoted, stringAt } from "@bough/session-core/wire";
import { compactionPayload, foreignPayload, type KeptEntries, messagePayload, withOthers } from "../source/payloads.js";
import { attachedMessage, attachmentMembers } from "./attachments.js";
import { readKept, summaryText, toCompaction, toReplyPayloads } from "./compaction.js";
import { toReplyMessage, toUserMessages } from "./messages.js";
import type { TreePlacement } from "./placement.js";
import { type RecordKind, readTypeName } from "./record-kind.js";
import type { BoundaryFacts, LineSource, NodeIndex, SessionFile } from "./session-file.js";

/** The payloads of a record, at least one, each the child of the one before. */
interface RecordPayloads {
  readonly payloads: readonly JsonObject[];
  readonly problems: readonly Pick<ImportProblem, "code" | "message">[];
}

/** Converts the records of a session to payloads; reads the other lines of a reply or compaction from the file. */
export class PayloadBuilder {
  readonly #file: SessionFile;
  readonly #chain: number;
  readonly #reader: LineSource;
  readonly #placement: TreePlacement;
  readonly #entriesOf: (node: NodeIndex) => readonly EntryId[];

  /** `entriesOf` returns the ids of the entries of a record that was read; none if they are not known. */
  constructor(
    file: SessionFile,
    chain: number,
    reader: LineSource,
    placement: TreePlacement,
    entriesOf: (node: NodeIndex) => readonly EntryId[],
  ) {
    this.#entriesOf = entriesOf;
    this.#file = file;
    this.#chain = chain;
    this.#reader = reader;
    this.#placement = placement;
  }

  // Read for each record, because the first branch of a transcript that is still written may come later.
  get #firstBranch(): string | undefined {
    return this.#file.chains[this.#chain]?.gitBranch;
  }

  /** The payloads of `record` at `node`, which has no position in the tree yet. */
  create(node: NodeIndex, record: JsonObject): RecordPayloads {
    switch (this.#file.records.get(node)?.kind) {
      case "human":
      case "injected":
      case "result":
        return this.#withOthers(record, toUserMessages(record, (id) => this.#file.calls.get(id)?.name).map(messagePayload));
      case "attached":
        return this.#withOthers(attachmentMembers(record), [messagePayload(attachedMessage(record))]);
      case "reply":
        return this.#withOthers(record, toReplyPayloads(toReplyMessage(this.#linesOf(node, record))));
      case "boundary":
        return this.#compaction(node, record);
      case "summary":
        return this.#withOthers(record, [compactionPayload({ summary: summaryText(record) })]);
      case "noise":
      case "side":
      case "absorbed":
      case "bad":
      case undefined:
        return toForeign(record);
    }
  }

  /** The first payload has the other fields of the record. */
  #withOthers(record: JsonObject, payloads: readonly JsonObject[], problems: RecordPayloads["problems"] = []): RecordPayloads {
    const others = readOtherFields(record, this.#firstBranch);
    return { payloads: payloads.map((payload, at) => (at === 0 ? withOthers(payload, "claude", others) : payload)), problems };
  }

  #linesOf(node: NodeIndex, first: JsonObject): readonly JsonObject[] {
    const later = (this.#file.replyLines.get(node) ?? []).map((line) => this.#objectAt(line));
    return [first, ...later.filter((line) => line !== undefined)];
  }

  #objectAt(node: NodeIndex | undefined): JsonObject | undefined {
    const place = node === undefined ? undefined : this.#file.records.get(node);
    return place === undefined ? undefined : this.#reader.takeObject(place);
  }

  #compaction(node: NodeIndex, boundary: JsonObject): RecordPayloads {
    const facts = this.#file.boundaries.get(node);
    const problems: RecordPayloads["problems"][number][] = facts?.isParentMissing === true && !facts.isFollowed ? [NO_PARENT] : [];
    const summary = this.#objectAt(facts?.summary);
    if (summary === undefined) return { ...toForeign(boundary), problems: [...problems, NO_SUMMARY] };
    const kept = facts === undefined ? NOTHING_KEPT : this.#keptBy(node, facts);
    if (kept.firstKeptEntryId === null && readKept(boundary).uuids.length > 0 && facts?.isFollowed !== true) problems.push(NOT_ON_PATH);
    return this.#withOthers(boundary, [toCompaction(boundary, summary, kept)], problems);
  }

  /** The entries that a compaction keeps: all from the first one on, or those that are named if there are others, or the summary is behind them. */
  #keptBy(boundary: NodeIndex, { kept, isListed, isBefore }: BoundaryFacts): KeptEntries {
    const [first, last = first] = [kept[0], kept.at(-1)];
    const under = this.#placement.parentFor(boundary);
    if (first === undefined || last === undefined || !this.#placement.isOnPath(first, under)) return NOTHING_KEPT;
    const [firstKeptEntryId = null] = this.#entriesOf(first);
    const listed = new Set(kept);
    const isKept = (node: NodeIndex) => (isListed ? listed.has(node) : !isBefore || node <= last);
    const spoken = this.#placement.pathFrom(first, under).filter((node) => SPOKEN.has(this.#file.records.get(node)?.kind));
    if (firstKeptEntryId === null || (!isBefore && spoken.every(isKept))) return { firstKeptEntryId };
    const ids = spoken.filter(isKept).flatMap(this.#entriesOf);
    return { firstKeptEntryId, keptEntryIds: isBefore ? [...ids, null] : [null, ...ids] };
  }
}

const NOTHING_KEPT: KeptEntries = { firstKeptEntryId: null };

/** The records that a model reads. */
const SPOKEN: ReadonlySet<RecordKind | undefined> = new Set(["human", "injected", "attached", "result", "reply"]);

const NO_PARENT = {
  code: "missing-parent",
  message: "the record before the compaction is not in the file; attached to the end of the conversation",
} as const;
const NO_SUMMARY = { code: "invalid-record", message: "a compaction without its summary; kept as a foreign entry" } as const;
const NOT_ON_PATH = {
  code: "missing-kept-entry",
  message: "the entries that the compaction kept are not on its path; imported as keeping nothing",
} as const;

function toForeign(record: JsonObject): RecordPayloads {
  const originalType = readTypeName(record);
  // A message without content or a record without a type is an invalid record, not one of an unknown type.
  const isBroken =
    originalType === "unknown" || ((originalType === "user" || originalType === "assistant") && record.message === undefined);
  const message = `no message can be made of this record (${quoted(originalType)}); kept as a foreign entry`;
  return { payloads: [foreignPayload(record, originalType)], problems: isBroken ? [{ code: "invalid-record", message }] : [] };
}

// Fields that are part of the entry's position, its message or the session's header.
const KEPT_ELSEWHERE: ReadonlySet<string> = new Set([
  "type",
  "subtype",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "timestamp",
  "message",
  "content",
  "attachment",
  "compactMetadata",
  "toolUseResult",
  "costUSD",
  "isMeta",
  "isSidechain",
  "isApiErrorMessage",
  "isCompactSummary",
  "isVisibleInTranscriptOnly",
  "sourceToolAssistantUUID",
  "sessionId",
  "agentId",
  "cwd",
  "gitBranch",
  "version",
  "userType",
  "entrypoint",
  "slug",
]);

/** The other fields of a record: unknown fields, and the git branch if it is not the first one of the session. */
function readOtherFields(record: JsonObject, firstBranch: string | undefined): JsonObject {
  const others = Object.keys(record).filter((key) => !KEPT_ELSEWHERE.has(key));
  // Defined, not assigned: a member may be named `__proto__`.
  const rest = Object.fromEntries(others.map((key) => [key, record[key]]));
  const branch = stringAt(record, "gitBranch");
  return branch === undefined || branch === firstBranch ? rest : { gitBranch: branch, ...rest };
}
