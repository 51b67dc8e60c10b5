import { constants, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@bough/session-core";
import { unpack } from "./baseline.mjs";
import { messages, sessionWrites } from "./world.mjs";

const BATCH = 1000;
const COPIES = "copies";

/** The stores that a run measures in, in a folder of their own that is gone afterwards. */
export class Stores {
  folder = mkdtempSync(join(tmpdir(), "bough-bench-"));
  #made = new Map();
  #copies = 0;

  constructor(say) {
    this.say = say;
  }

  /** A store with one session of `count` entries, made once a run. Measure in a `copy` where something is written. */
  async ofSize(count) {
    return this.#once(`one session of ${count} entries`, count, async (store) => {
      const session = await store.createSession({ title: "Fix the parser", cwd: "/home/dev/project" });
      await writeAll(session, sessionWrites(count, count));
      return { sessionId: session.id, entryCount: count };
    });
  }

  /** The same without its compactions: all of its active path is in the context. */
  async uncompacted(count) {
    return this.#once(`one session of ${count} entries, never compacted`, `${count}-whole`, async (store) => {
      const session = await store.createSession({ title: "Fix the parser", cwd: "/home/dev/project" });
      const script = messages(count);
      const writes = Array.from({ length: count }, () => ({ kind: "entry", entry: { type: "message", message: script.next().value } }));
      for (let at = 0; at < count; at += BATCH) await session.write(writes.slice(at, at + BATCH));
      return { sessionId: session.id, entryCount: count };
    });
  }

  /** The store of one session with every payload as a row; its search index is up to date. */
  async unpacked(count) {
    const made = this.copy(await this.ofSize(count));
    const payloadBytes = await withStore({ path: made.path, durability: "normal" }, async (store) => {
      await store.catchUpSearch();
      return (await store.statistics()).payloadBytes;
    });
    unpack(made.path);
    return { ...made, payloadBytes };
  }

  /** A store with many sessions, made once a run; its search index is up to date. */
  async ofSessions(sessions, entriesEach) {
    return this.#once(`${sessions} sessions of ${entriesEach} entries`, `${sessions}x${entriesEach}`, async (store) => {
      for (let at = 0; at < sessions; at++) {
        const session = await store.createSession({ title: `Session ${at}`, cwd: `/home/dev/project-${at % 20}` });
        await writeAll(session, sessionWrites(1_000_003 + at, entriesEach));
      }
      const start = performance.now();
      const { payloadBytes } = await store.statistics();
      await store.catchUpSearch();
      return { sessions, entryCount: sessions * entriesEach, payloadBytes, indexMs: performance.now() - start };
    });
  }

  /** A copy to write in: byte by byte the same file, so schema, rows and the depth of every index are the same. */
  copy(made) {
    const path = this.path("copy");
    copyFileSync(made.path, path, constants.COPYFILE_FICLONE);
    return { ...made, path };
  }

  /** A path for a new file, which is there until `clear`. */
  path(name) {
    this.#copies += 1;
    return join(this.folder, COPIES, `${name}-${this.#copies}`);
  }

  /** A new folder, which is there until `clear`. */
  folderFor(name) {
    const path = this.path(name);
    mkdirSync(path);
    return path;
  }

  /** Takes the copies away: those of a million entries would fill a disk. */
  clear() {
    rmSync(join(this.folder, COPIES), { recursive: true, force: true });
    mkdirSync(join(this.folder, COPIES));
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #once(title, key, fill) {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const path = join(this.folder, `store-${key}.db`);
    const start = performance.now();
    const store = await openStore({ path, durability: "normal" });
    const made = { path, ...(await fill(store)) };
    // The last connection to close folds the journal into the file, so that the file alone is the store.
    await store.close();
    this.say(`made a store with ${title} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    this.#made.set(key, made);
    return made;
  }
}

async function writeAll(session, writes) {
  let batch = [];
  for (const write of writes) {
    batch.push(write);
    if (batch.length === BATCH) {
      await session.write(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await session.write(batch);
}

/** Opens a store, lets `work` have it, and closes it in any case. */
export async function withStore(options, work) {
  const store = await openStore(options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
