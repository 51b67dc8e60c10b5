import type { SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function readLeaf(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.LeafState> {
  throw new Error("not built yet");
}

export async function openLeaf(
  database: PgDatabase,
  key: records.SessionKey,
  name: string,
  at: records.LeafState,
): Promise<records.LeafState> {
  throw new Error("not built yet");
}

export async function listLeaves(database: PgDatabase, key: records.SessionKey): Promise<readonly records.LeafRecord[]> {
  throw new Error("not built yet");
}

export async function deleteLeaf(database: PgDatabase, id: SessionId, name: string): Promise<void> {
  throw new Error("not built yet");
}

export async function undoMove(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.LeafState | undefined> {
  throw new Error("not built yet");
}

export async function redoMove(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.LeafState | undefined> {
  throw new Error("not built yet");
}

export async function listLeafMoves(
  database: PgDatabase,
  key: records.SessionKey,
  name: string,
  limit: number,
): Promise<readonly records.LeafMove[]> {
  throw new Error("not built yet");
}
