import type { Store } from "@bough/session-core";
import { CancelledError } from "../errors.js";
import { counted } from "../format/numbers.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { type Progress, startProgress } from "./progress.js";

/** Entries to index between two updates of the progress bar. */
const INDEX_STEP = 2000;

/** Indexes and packs what was imported, with a progress bar for each. */
export async function indexImported(store: Store, io: Io, out: Printer, signal: AbortSignal): Promise<void> {
  await updateSearchIndex(store, out, await startProgress(io, out, "indexing for search"), signal);
  await packImported(store, await startProgress(io, out, "packing"), signal);
}

async function updateSearchIndex(store: Store, out: Printer, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    let left = await store.catchUpSearch(INDEX_STEP);
    const total = left;
    if (left > 0) await out.flush();
    for (; left > 0; left = await store.catchUpSearch(INDEX_STEP)) {
      progress.update(total - left, total, counted(left, "entry left", "entries left"));
      if (signal.aborted) throw new CancelledError("Interrupted; every session was imported. Searches find them; they are indexed later.");
    }
  } finally {
    progress.end();
  }
}

async function packImported(store: Store, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    const onProgress = (done: number, total: number) => progress.update(done, total, counted(done, "entry", "entries"));
    await store.pack({ scope: "old", signal, onProgress });
  } catch (error) {
    if (signal.aborted)
      throw new CancelledError("Interrupted; every session was imported. `bough pack` makes the store smaller.", { cause: error });
    throw error;
  } finally {
    progress.end();
  }
}
