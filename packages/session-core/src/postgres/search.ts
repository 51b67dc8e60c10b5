import type { SearchPage, SearchRequest } from "../port/search.js";
import type { PgDatabase } from "./database.js";

export async function search(database: PgDatabase, request: SearchRequest): Promise<SearchPage> {
  throw new Error("not built yet");
}
