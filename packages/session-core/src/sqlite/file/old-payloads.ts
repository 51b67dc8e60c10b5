import type { Database } from "better-sqlite3";
import { parseJsonObject } from "../../entry/json.js";
import { type EntrySeq, toEntrySeq } from "../../ids/ids.js";
import type { OnProgress } from "../../port/connection-options.js";
import { toStoredCustomType } from "../../rules/derived-columns.js";
import { BlockFault, type EncodedBlock, OpenBlock } from "./block.js";

/** The kinds of entries that have a custom type, as `entry.kind` stores them: custom_message and custom. */
export const CUSTOM_KINDS = "12, 13";

/** Returns the custom type in the JSON text of a payload as it is stored; null if the payload is missing or cannot be read. */
export function customTypeIn(json: string | undefined): string | null {
  return toStoredCustomType(parseJsonObject(json ?? "")?.["customType"]);
}

/** The number of entries that one query reads. */
const ROWS_AT_ONCE = 1000;

/** The number of blocks that are kept open: the entries of several sessions may have arrived in turns. */
const OPEN_BLOCKS = 8;

interface OldRow {
  readonly seq: EntrySeq;
  readonly session_seq: number;
  readonly kind: number;
  readonly json: string | null;
}

/** The payload of an entry of an old file. */
interface OldPayload {
  readonly seq: EntrySeq;
  /** The row number of its session. */
  readonly session: number;
  readonly kind: number;
  /** undefined: missing, or in a damaged block. `verify` reports it. */
  readonly json: string | undefined;
}

/**
 * Reads the payloads of a file of version 4 that has no `Connection` yet, oldest first.
 *
 * @param kinds The kinds of entries to read, for SQL.
 * @param onProgress Gets the row number of the last entry that was read, and that of the last entry of the file.
 * @param condition Which of these entries to read, for SQL on `entry`.
 */
export function* payloadsFrom(
  file: Database,
  kinds: string,
  onProgress?: OnProgress,
  condition = "TRUE",
): Generator<OldPayload, void, void> {
  const last = Number(file.prepare("SELECT coalesce(max(seq), 0) FROM main.entry").pluck().get());
  const page = file.prepare<[EntrySeq, number], OldRow>(
    `SELECT entry.seq, entry.session_seq, entry.kind, payload.json FROM main.entry LEFT JOIN main.payload ON entry_seq = entry.seq
     WHERE entry.kind IN (${kinds}) AND ${condition} AND entry.seq > ? ORDER BY entry.seq LIMIT ?`,
  );
  const blocks = new BlockReader(file);
  for (let after = toEntrySeq(0); ; ) {
    const rows = page.all(after, ROWS_AT_ONCE);
    for (const row of rows) yield { seq: row.seq, session: row.session_seq, kind: row.kind, json: row.json ?? blocks.textOf(row) };
    const end = rows.at(-1);
    if (end === undefined) return;
    after = end.seq;
    onProgress?.(after, last);
  }
}

type StoredBlock = EncodedBlock & { readonly session_seq: number };

class BlockReader {
  readonly #blockAround;
  #open: { readonly session: number; readonly block: OpenBlock }[] = [];

  constructor(file: Database) {
    this.#blockAround = file.prepare<[number, EntrySeq, EntrySeq], StoredBlock>(
      "SELECT * FROM main.payload_block WHERE session_seq = ? AND last_seq >= ? AND first_seq <= ? ORDER BY last_seq LIMIT 1",
    );
  }

  textOf({ session_seq, seq }: OldRow): string | undefined {
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
