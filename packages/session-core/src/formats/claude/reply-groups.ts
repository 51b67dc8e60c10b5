import { type JsonObject, objectAt, stringAt } from "../../source/narrow.js";
import { type IndexedRecord, MISSING, type NodeIndex } from "./session-file.js";

/** The lines of a reply stand close together; so many replies back are looked at, the agents beside it included. */
const OPEN_REPLIES = 256;

interface OpenReply {
  readonly first: NodeIndex;
  readonly requestId: string | undefined;
}

/**
 * Finds the lines that are one reply: each block of a reply is a record of its own, with the same `message.id`.
 *
 * The id alone is not enough, because some proxies give every reply the same one. A line belongs to an open reply if it
 * hangs on it, on a result of its calls, on noise behind either, beside its first line, or on a line that is lost.
 */
export class ReplyGroups {
  readonly #open = new Map<string, OpenReply>();
  readonly lines = new Map<NodeIndex, NodeIndex[]>();

  /** The first line of the reply that this line belongs to; undefined: it is the first. */
  find(record: JsonObject, parent: NodeIndex, chain: number, records: readonly IndexedRecord[]): NodeIndex | undefined {
    const open = this.#open.get(messageIdOf(record) ?? "");
    const first = open === undefined ? undefined : records[open.first];
    if (open === undefined || first === undefined || first.chain !== chain) return undefined;
    if (!sameRequest(open.requestId, stringAt(record, "requestId"))) return undefined;
    const belongs = parent === MISSING || parent === first.parent || records[parent]?.reply === open.first;
    return belongs ? open.first : undefined;
  }

  /** Notes the first line of a reply. */
  begin(record: JsonObject, node: NodeIndex): void {
    const id = messageIdOf(record);
    if (id === undefined) return;
    this.#open.delete(id);
    this.#open.set(id, { first: node, requestId: stringAt(record, "requestId") });
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_REPLIES && oldest !== undefined) this.#open.delete(oldest);
  }

  /** Notes a later line of the reply that begins at `first`. */
  add(first: NodeIndex, node: NodeIndex): void {
    const lines = this.lines.get(first);
    if (lines === undefined) this.lines.set(first, [node]);
    else lines.push(node);
  }
}

function messageIdOf(record: JsonObject): string | undefined {
  const id = stringAt(objectAt(record, "message") ?? {}, "id");
  return id === "" ? undefined : id;
}

function sameRequest(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
