import { promisify } from "node:util";
import { constants, crc32, deflateRaw, deflateRawSync, inflateRawSync } from "node:zlib";
import { type EntrySeq, toEntrySeq } from "../../ids/ids.js";

/** The limits of a block: it ends with the entry that reaches one of them. */
export const BLOCK_ENTRIES = 64;
export const BLOCK_BYTES = 128 * 1024;

/** The number of the compression method of a block's data. */
const DEFLATE_RAW = 1;

// Level 6: level 9 saves 0.3 % of the payloads at half the speed, level 1 costs 4 % (measured on sessions of pi and Claude Code).
const LEVEL = { level: 6 };
const NEWLINE = 0x0a;
const deflateAsync = promisify(deflateRaw);

/** The payload of one entry, as JSON text. */
export interface BlockEntry {
  readonly seq: EntrySeq;
  readonly json: string;
}

/** Divides the payloads of a session, oldest first, into blocks. A payload larger than a block is a block of its own. */
export function* divideIntoBlocks(entries: Iterable<BlockEntry>): Generator<readonly BlockEntry[], void, void> {
  let block: BlockEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.json);
    if (block.length > 0 && size > BLOCK_BYTES) {
      yield block;
      [block, bytes] = [[], 0];
    }
    block.push(entry);
    bytes += size;
    if (block.length < BLOCK_ENTRIES && bytes < BLOCK_BYTES) continue;
    yield block;
    [block, bytes] = [[], 0];
  }
  if (block.length > 0) yield block;
}

/** The compressed payloads of consecutive entries of one session: the columns of a row of `payload_block` that depend on them. */
export interface EncodedBlock {
  readonly first_seq: EntrySeq;
  readonly last_seq: EntrySeq;
  readonly entries: number;
  /** The bytes of the JSON texts. */
  readonly payload_bytes: number;
  readonly codec: number;
  /** CRC-32 of `data`. */
  readonly checksum: number;
  readonly data: Buffer;
}

/** Compresses the payloads of consecutive entries, oldest first; at least one. */
export function encodeBlock(entries: readonly BlockEntry[]): EncodedBlock {
  const { head, body } = layOut(entries);
  return finish(entries, body.length, deflateRawSync(Buffer.concat([head, body]), LEVEL));
}

/** Like `encodeBlock`; compresses in another thread. */
export async function encodeBlockAsync(entries: readonly BlockEntry[]): Promise<EncodedBlock> {
  const { head, body } = layOut(entries);
  return finish(entries, body.length, await deflateAsync(Buffer.concat([head, body]), LEVEL));
}

// A line of JSON, an array of numbers, then the texts without anything between them. For each entry the line has the distance of
// its row number from the one before, and the bytes of its text.
function layOut(entries: readonly BlockEntry[]): { readonly head: Buffer; readonly body: Buffer } {
  const texts = entries.map(({ json }) => Buffer.from(json));
  const numbers = entries.flatMap(({ seq }, at) => [seq - (entries[at - 1]?.seq ?? seq), texts[at]?.length ?? 0]);
  return { head: Buffer.from(`${JSON.stringify(numbers)}\n`), body: Buffer.concat(texts) };
}

function finish(entries: readonly BlockEntry[], payloadBytes: number, data: Buffer): EncodedBlock {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError("a block has at least one entry");
  return {
    first_seq: first.seq,
    last_seq: last.seq,
    entries: entries.length,
    payload_bytes: payloadBytes,
    codec: DEFLATE_RAW,
    checksum: crc32(data),
    data,
  };
}

/** A decompressed block. */
export class OpenBlock {
  readonly firstSeq: EntrySeq;
  readonly lastSeq: EntrySeq;
  readonly #seqs: readonly number[];
  readonly #ends: readonly number[];
  readonly #raw: Buffer;
  readonly #bodyStart: number;

  /**
   * Checks and decompresses a block, or only its start up to an entry: the settings of a session are the start of its first block, and
   * the newest payloads that a context reads are often the start of the last one. @throws {BlockFault} it is damaged.
   */
  constructor(block: EncodedBlock, upTo: EntrySeq = block.last_seq) {
    if (block.codec !== DEFLATE_RAW)
      throw new BlockFault(`its codec ${block.codec} is unknown; if a newer version of Bough wrote it, update Bough`);
    if (crc32(block.data) !== block.checksum) throw new BlockFault("its checksum differs");
    this.firstSeq = block.first_seq;
    this.lastSeq = block.last_seq;
    const { raw, bodyStart, seqs, ends } = decompressStart(block, upTo) ?? decompress(block);
    this.#raw = raw;
    this.#bodyStart = bodyStart;
    this.#seqs = seqs;
    this.#ends = ends;
  }

  /** The size in memory, in bytes. */
  get bytes(): number {
    return this.#raw.length;
  }

  /** The row numbers of the entries, oldest first. */
  get seqs(): readonly number[] {
    return this.#seqs;
  }

  /** Returns the JSON text of an entry, or undefined if it is not in the decompressed part of the block. */
  textOf(seq: EntrySeq): string | undefined {
    const at = indexOf(this.#seqs, seq);
    const end = at === undefined ? Number.POSITIVE_INFINITY : this.#bodyStart + (this.#ends[at] ?? 0);
    if (at === undefined || end > this.#raw.length) return undefined;
    return this.#raw.toString("utf8", this.#bodyStart + (this.#ends[at - 1] ?? 0), end);
  }

  /** Returns all entries, oldest first. */
  allEntries(): readonly BlockEntry[] {
    return this.#seqs.map((seq) => ({ seq: toEntrySeq(seq), json: this.textOf(toEntrySeq(seq)) ?? "" }));
  }
}

// Row numbers rise, so that an entry lies at most as far from the start as its number from the first one.
function indexOf(seqs: readonly number[], seq: EntrySeq): number | undefined {
  let low = 0;
  let high = Math.min(seq - (seqs[0] ?? 0), seqs.length - 1);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = seqs[middle] ?? 0;
    if (found === seq) return middle;
    if (found < seq) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** Why a block cannot be read. `message` completes the sentence "the block … cannot be read: …". */
export class BlockFault extends Error {
  override readonly name = "BlockFault";
}

/** The most bytes that a pair of numbers takes in the first line. */
const PAIR_BYTES = 40;
/** The most bytes of a decompressed block: those of a payload of `MAX_JSON_LENGTH` characters, and more. */
const MOST_BYTES = 2 ** 30;

/** The decompressed bytes of a block, or the first of them. */
interface Layout {
  readonly raw: Buffer;
  readonly bodyStart: number;
  /** For each entry its row number, and the end of its text in the body. */
  readonly seqs: readonly number[];
  readonly ends: readonly number[];
}

function decompress(block: EncodedBlock): Layout {
  const layout = readLayout(block, inflate(block, block.data));
  if (layout.bodyStart + block.payload_bytes !== layout.raw.length) throw new BlockFault("its size differs");
  return layout;
}

/** The share of a block up to which decompressing only its start is faster, and what is read beyond the estimated end. */
const START_SHARE = 0.6;
const START_MARGIN = 1.4;
const START_BYTES = 1024;

/** Decompresses the start of a block up to an entry; undefined if that is most of the block, or more than estimated. */
function decompressStart(block: EncodedBlock, upTo: EntrySeq): Layout | undefined {
  let share = (upTo - block.first_seq + 1) / (block.last_seq - block.first_seq + 1);
  // The first estimate assumes that all texts are equally long; the second one uses their lengths.
  for (let estimate = 0; estimate < 2 && share <= START_SHARE; estimate++) {
    const raw = inflate(block, block.data.subarray(0, Math.ceil(block.data.length * share * START_MARGIN) + START_BYTES));
    if (!raw.includes(NEWLINE)) return undefined;
    const layout = readLayout(block, raw);
    const at = indexOf(layout.seqs, upTo);
    const end = at === undefined ? Number.POSITIVE_INFINITY : layout.bodyStart + (layout.ends[at] ?? 0);
    if (end <= raw.length) return layout;
    share = end / (layout.bodyStart + block.payload_bytes);
  }
  return undefined;
}

/** Decompresses at most the size in the row of the block, because a few bytes of data can decompress to gigabytes. */
function inflate({ entries, payload_bytes }: EncodedBlock, data: Buffer): Buffer {
  const most = payload_bytes + (entries + 1) * PAIR_BYTES;
  if (most < 1 || most > MOST_BYTES) throw new BlockFault("its size is out of range");
  // The result of most blocks is one chunk. With a flush, data that ends early is no error.
  const chunkSize = Math.min(Math.max(most, 64), 2 * BLOCK_BYTES);
  try {
    return inflateRawSync(data, { maxOutputLength: most, chunkSize, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    // The checksum matches, so the damage is as old as the block.
    const isLarger = error instanceof RangeError;
    throw new BlockFault(isLarger ? "it is larger than its size" : "it cannot be decompressed", { cause: error });
  }
}

function readLayout(block: EncodedBlock, raw: Buffer): Layout {
  const headEnd = raw.indexOf(NEWLINE);
  const { seqs, ends } = readHead(raw.toString("latin1", 0, headEnd), block.first_seq);
  if (seqs.length !== block.entries || seqs.at(-1) !== block.last_seq) throw new BlockFault("its row numbers differ");
  if (ends.at(-1) !== block.payload_bytes) throw new BlockFault("its size differs");
  return { raw, bodyStart: headEnd + 1, seqs, ends };
}

function readHead(line: string, firstSeq: number): { readonly seqs: readonly number[]; readonly ends: readonly number[] } {
  const numbers = parseLine(line);
  const seqs: number[] = [];
  const ends: number[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [distance, bytes] = [numbers[at] ?? 0, numbers[at + 1] ?? -1];
    if (bytes < 0 || (at === 0 ? distance !== 0 : distance < 1)) throw new BlockFault("its first line has impossible numbers");
    seqs.push((seqs.at(-1) ?? firstSeq) + distance);
    ends.push((ends.at(-1) ?? 0) + bytes);
  }
  return { seqs, ends };
}

function parseLine(line: string): readonly number[] {
  try {
    const numbers: unknown = JSON.parse(line);
    if (Array.isArray(numbers) && numbers.every(Number.isSafeInteger)) return numbers;
  } catch (error) {
    throw new BlockFault("its first line is no JSON", { cause: error });
  }
  throw new BlockFault("its first line is not a list of whole numbers");
}
