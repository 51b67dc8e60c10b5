import type { EntryId } from "../../ids/ids.js";
import { type JsonObject, without } from "../../source/narrow.js";
import type { Links } from "./links.js";

/** What a record needs to know of the file around it. */
export interface EntryReading {
  readonly links: Links;
  /** Bough wrote the file: its `fromId` always names the branch left behind. */
  readonly isOurs: boolean;
  /** The first entry that the record, a compaction, kept; null: nothing kept. */
  firstKept(): EntryId | null;
}

const POSITION = ["id", "parentId", "timestamp"];

/** What a record carries, without where it stands. */
export function fieldsOf(record: JsonObject): JsonObject {
  return without(record, POSITION);
}
