import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Store } from "@bough/session-core";
import fc from "fast-check";
import { expect } from "vitest";
import { collected, findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/transfer/import-path.js";
import { syncSessions } from "../../src/transfer/sync.js";

/** A file of an agent: its path below the home folder, and its content at each moment; a function writes it itself. */
export interface WrittenFile {
  readonly path: string;
  readonly states: readonly (Buffer | ((path: string) => void))[];
}

/** The states of a file that grows at its end, cut at these bytes. */
export function grown(path: string, content: Buffer, cuts: readonly number[]): WrittenFile {
  return { path, states: [...cuts.map((cut) => content.subarray(0, cut)), content] };
}

/** The ends of the lines of a text, in bytes, and the middle of each line. */
export function lineCuts(content: Buffer): readonly number[] {
  const ends = [...content.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  return ends.flatMap((end, at) => [Math.floor(((ends[at - 1] ?? 0) + end) / 2), end]);
}

/** Any places of a content, in order: each with the ends of a few lines. */
export function anyCuts(content: Buffer): fc.Arbitrary<readonly number[]> {
  const ends = lineCuts(content).filter((_, at) => at % 2 === 1);
  const place = fc.oneof(fc.nat(content.length), fc.constantFrom(...ends));
  return fc.array(place, { minLength: 1, maxLength: 12 }).map((cuts) => cuts.toSorted((a, b) => a - b));
}

/** How the files of a program look that writes at this moment, and of one that was left long ago. */
const WRITTEN_NOW = 1_800;
const LEFT = -86_400;

const STARTED_MS = Date.now();

/** A home folder whose files are watched. */
export class WatchedHome {
  readonly folder = tempFolder();
  readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  /** Writes a state of a file, as a program that goes on writing (or has ended), and syncs. */
  async write(path: string, state: WrittenFile["states"][number], isLeft = false): Promise<void> {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof state === "function") state(file);
    else writeFileSync(file, state);
    if (isLeft) this.leave(path);
    else touch(file, WRITTEN_NOW);
    await this.sync();
  }

  /** Makes a file look as if it had been written at another time, by default a day ago. */
  leave(path: string, afterSeconds = LEFT): void {
    touch(join(this.folder, path), afterSeconds);
  }

  sync() {
    return syncSessions(this.store, { environment: { env: {}, home: this.folder, platform: "linux" } });
  }
}

function touch(file: string, afterSeconds: number): void {
  for (const one of [file, `${file}-wal`]) {
    if (statSync(one, { throwIfNoEntry: false }) === undefined) continue;
    const time = Date.now() / 1000 + afterSeconds;
    utimesSync(one, time, time);
  }
}

/** All that is stored of the sessions, by their ids. */
async function storedIn(store: Store) {
  const { items } = await store.listSessions({ kind: "all", archived: "all", empty: true, limit: 500 });
  const sessions = items.map(async ({ id }) => {
    const session = await store.openSession(id);
    const { title, cwd, kind, createdAtMs, metadata, parent } = await session.record();
    const entries = (await collected(session.entries())).map(({ seq: _, ...entry }) => entry);
    const { usage, ...statistics } = await session.statistics();
    return [
      id,
      {
        // Without a time in the source, that of the import.
        record: { title, cwd, kind, metadata, parent, createdAtMs: createdAtMs < STARTED_MS ? createdAtMs : "now" },
        entries: entries.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        leaves: await session.leaves(),
        labels: (await session.labels.list()).map(({ entryId, label }) => `${entryId} ${label}`),
        values: await session.values.list(),
        statistics: { ...statistics, usage: usage.map((one) => ({ ...one, costUsd: one.costUsd.toFixed(9) })) },
      },
    ] as const;
  });
  return Object.fromEntries((await Promise.all(sessions)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Watches files while they are written, a sync after each state, and compares the store with one into which the complete files were
 * imported once: sessions, entries, leaves, labels and totals are equal. While they are written, nothing is stored that the import does
 * not have, and a sync at the end adds nothing.
 */
export async function watchedEqualsImported(files: readonly WrittenFile[], normal: (stored: unknown) => unknown = (stored) => stored) {
  const home = new WatchedHome(await openedStore());
  const most = Math.max(...files.map(({ states }) => states.length));
  for (let at = 0; at < most; at += 1)
    for (const { path, states } of files) {
      const state = states[at];
      if (state !== undefined) await home.write(path, state);
    }
  for (const { path } of files) home.leave(path);
  await home.sync();
  const imported = await openedStore();
  await importPath(imported, home.folder);
  expect(normal(await storedIn(home.store))).toEqual(normal(await storedIn(imported)));
  expect(await findingsOf(home.store)).toEqual([]);
  const again = (await home.sync()).agents.flatMap(({ sessions }) => sessions).filter(({ entriesAdded }) => entriesAdded > 0);
  expect(again).toEqual([]);
  rmSync(home.folder, { recursive: true });
}
