import type { Database } from "better-sqlite3";
import { BlockFault, type EncodedBlock, OpenBlock } from "./block.js";
import type { OnProgress } from "./connection-options.js";
import { type EntrySeq, toEntrySeq } from "./schema.js";

/** The kinds of entries that have a custom type, as `entry.kind` stores them: custom_message and custom. */
export const CUSTOM_KINDS = "12, 13";

/** The longest custom type that is indexed, in UTF-16 code units. */
const MAX_LENGTH = 500;

/** Returns a custom type as it is stored in `entry.custom_type`: null if it is too long for an index. */
export function toStoredCustomType(customType: unknown): string | null {
  return typeof customType === "string" && customType.length <= MAX_LENGTH ? customType : null;
}

/** How many entries are read at once. */
const ROWS_AT_ONCE = 1000;

/** How many blocks are kept open: the entries of several sessions may have arrived in turns. */
const OPEN_BLOCKS = 8;

interface CustomRow {
  readonly seq: EntrySeq;
  readonly session_seq: number;
  readonly json: string | null;
}

/**
 * Reads the custom types of a file of version 4 from the payloads of its entries, oldest first. Leaves out entries whose payload
 * cannot be read, which `verify` reports. `onProgress` gets row numbers.
 */
export function* customTypesFrom(
  file: Database,
  onProgress?: OnProgress,
): Generator<{ readonly seq: EntrySeq; readonly customType: string }, void, void> {
  const last = Number(file.prepare("SELECT coalesce(max(seq), 0) FROM main.entry").pluck().get());
  const page = file.prepare<[EntrySeq, number], CustomRow>(
    `SELECT entry.seq, entry.session_seq, payload.json FROM main.entry LEFT JOIN main.payload ON entry_seq = entry.seq
     WHERE entry.kind IN (${CUSTOM_KINDS}) AND entry.seq > ? ORDER BY entry.seq LIMIT ?`,
  );
  const blocks = new BlockReader(file);
  for (let after = toEntrySeq(0); ; ) {
    const rows = page.all(after, ROWS_AT_ONCE);
    for (const row of rows) {
      const customType = customTypeOf(row.json ?? blocks.textOf(row));
      if (customType !== null) yield { seq: row.seq, customType };
    }
    const end = rows.at(-1);
    if (end === undefined) return;
    after = end.seq;
    onProgress?.(after, last);
  }
}

function customTypeOf(json: string | undefined): string | null {
  try {
    const payload: unknown = JSON.parse(json ?? "null");
    return typeof payload === "object" && payload !== null && "customType" in payload ? toStoredCustomType(payload.customType) : null;
  } catch {
    return null;
  }
}

type StoredBlock = EncodedBlock & { readonly session_seq: number };

/** Reads payloads from the blocks of a file that has no `Connection` yet. */
class BlockReader {
  readonly #blockAround;
  #open: { readonly session: number; readonly block: OpenBlock }[] = [];

  constructor(file: Database) {
    this.#blockAround = file.prepare<[number, EntrySeq, EntrySeq], StoredBlock>(
      "SELECT * FROM main.payload_block WHERE session_seq = ? AND last_seq >= ? AND first_seq <= ? ORDER BY last_seq LIMIT 1",
    );
  }

  textOf({ session_seq, seq }: CustomRow): string | undefined {
    const known = this.#open.find(({ session, block }) => session === session_seq && block.firstSeq <= seq && seq <= block.lastSeq);
    return (known?.block ?? this.#openBlock(session_seq, seq))?.textOf(seq);
  }

  #openBlock(session: number, seq: EntrySeq): OpenBlock | undefined {
    const row = this.#blockAround.get(session, seq, seq);
    if (row === undefined) return undefined;
    try {
      const block = new OpenBlock(row);
      this.#open = [...this.#open.slice(-OPEN_BLOCKS + 1), { session, block }];
      return block;
    } catch (error) {
      if (!(error instanceof BlockFault)) throw error;
      return undefined;
    }
  }
}
