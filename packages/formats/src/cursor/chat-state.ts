/** The state of a chat at one moment, which Cursor writes after each step. */
export interface ChatState {
  /** The ids of the messages of the next request, in their order. */
  readonly messages: readonly string[];
  /** The first of them; undefined: there is none. Cost: that of one id. */
  readonly firstMessage: string | undefined;
  /** The ids of `messages` as bytes. */
  readonly ids: Uint8Array;
  /** The tokens of the context. */
  readonly usedTokens: number | undefined;
  /** The URI of the folder in which the agent works. */
  readonly workspace: string | undefined;
  readonly subagents: readonly SubagentState[];
}

/** A subagent whose messages are in the database of the chat that started it. */
interface SubagentState {
  readonly id: string;
  readonly createdAtMs: number | undefined;
  readonly state: ChatState;
}

/** The deepest nesting of subagents that is read. */
const MAX_DEPTH = 4;

/** An id as the field of a state: the number of the field, the length, 32 bytes. */
const ID_BYTES = 34;
const ID_FIELD = [0x0a, 32];

/**
 * Reads a state, a protobuf message (`agent.v1.ConversationStateStructure`): field 1 the ids of its messages, which come first, 5 the
 * size of the context, 9 the folder, 16 the subagents. Other fields are skipped. undefined: the bytes are no state.
 *
 * A long chat has many states with thousands of ids each, so the ids become text only when they are asked for.
 */
export function readChatState(bytes: Uint8Array, depth = 0): ChatState | undefined {
  let end = 0;
  while (end + ID_BYTES <= bytes.length && bytes[end] === ID_FIELD[0] && bytes[end + 1] === ID_FIELD[1]) end += ID_BYTES;
  const fields = readFields(bytes.subarray(end));
  if (fields === undefined || bytesOf(fields, 1).length > 0) return undefined;
  const size = messageOf(fields, 5);
  const workspace = bytesOf(fields, 9)[0];
  const ids = bytes.subarray(0, end);
  let messages: readonly string[] | undefined;
  return {
    get messages(): readonly string[] {
      messages ??= Array.from({ length: end / ID_BYTES }, (_, at) => idAt(ids, at));
      return messages;
    },
    firstMessage: end === 0 ? undefined : idAt(ids, 0),
    ids,
    usedTokens: size && numberOf(size, 1),
    workspace: workspace && toText(workspace),
    subagents: depth < MAX_DEPTH ? bytesOf(fields, 16).flatMap((entry) => readSubagent(entry, depth) ?? []) : [],
  };
}

function idAt(ids: Uint8Array, at: number): string {
  return toHex(ids.subarray(at * ID_BYTES + 2, (at + 1) * ID_BYTES));
}

/** True if the messages of `state` are the first ones of `longer`. */
export function isBeginningOf(state: ChatState, longer: ChatState): boolean {
  const { length } = state.ids;
  return length <= longer.ids.length && Buffer.compare(state.ids, longer.ids.subarray(0, length)) === 0;
}

/** An entry of the map of subagents: field 1 its id, 2 its state (1), its start (2) and more. */
function readSubagent(bytes: Uint8Array, depth: number): SubagentState | undefined {
  const entry = readFields(bytes);
  const [id] = entry === undefined ? [] : bytesOf(entry, 1);
  const kept = entry && messageOf(entry, 2);
  const [nested] = kept === undefined ? [] : bytesOf(kept, 1);
  const state = nested && readChatState(nested, depth + 1);
  if (id === undefined || kept === undefined || state === undefined) return undefined;
  return { id: toText(id), createdAtMs: numberOf(kept, 2), state };
}

type Field = readonly [number: number, value: Uint8Array | number];

/** The fields of a protobuf message: bytes, or the number of a varint. undefined: the bytes are no such message. */
function readFields(bytes: Uint8Array): readonly Field[] | undefined {
  const fields: Field[] = [];
  const reader = new WireReader(bytes);
  while (!reader.isAtEnd) {
    const key = reader.varint();
    if (key === undefined || key < 8) return undefined;
    const value = reader.value(key & 7);
    if (value === undefined) return undefined;
    fields.push([Math.floor(key / 8), value]);
  }
  return fields;
}

class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** A number of at most 53 bits; larger ones lose their lowest bits. */
  varint(): number | undefined {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  }

  value(wireType: number): Uint8Array | number | undefined {
    if (wireType === 0) return this.varint();
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : wireType === 2 ? this.varint() : undefined;
    if (length === undefined || this.#at + length > this.#bytes.length) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function bytesOf(fields: readonly Field[], wanted: number): readonly Uint8Array[] {
  return fields.flatMap(([number, value]) => (number === wanted && typeof value !== "number" ? [value] : []));
}

function numberOf(fields: readonly Field[], wanted: number): number | undefined {
  for (const [number, value] of fields) if (number === wanted && typeof value === "number" && Number.isSafeInteger(value)) return value;
  return undefined;
}

function messageOf(fields: readonly Field[], wanted: number): readonly Field[] | undefined {
  const [bytes] = bytesOf(fields, wanted);
  return bytes && readFields(bytes);
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
