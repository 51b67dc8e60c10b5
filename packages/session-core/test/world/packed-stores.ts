import { deflateRawSync } from "node:zlib";
import { exportBough } from "@bough/formats";
import { expect } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed } from "./grow.js";
import { collected, findingsOf, raw, storePath } from "./stores.js";

/** The entries of the small block of the session `damaged`, of the session `whole`, and of the large block. */
export const NAMES = ["u1", "a1", "d1", "u2"];
export const WHOLE = ["u1", "a1"];

/**
 * A closed store of packed sessions: `damaged` has two blocks, one of 64 entries and then a small one of `NAMES`; `whole` has one.
 * The entries of both take turns, so that their row numbers are interleaved.
 */
export async function packedStore(): Promise<string> {
  const path = storePath();
  const store = await openStore({ path, durability: "normal" });
  const damaged = await store.createSession({ id: "damaged" });
  await damaged.write(Array.from({ length: 63 }, (_, at) => ({ kind: "entry", entry: entryNamed(`n${at}`) })));
  const whole = await store.createSession({ id: "whole" });
  await whole.append(entryNamed("u1"));
  await damaged.append(entryNamed("n63"));
  for (const name of NAMES) await damaged.append(entryNamed(name));
  await whole.append(entryNamed("a1"));
  await store.pack();
  await store.close();
  return path;
}

interface Block {
  readonly seq: number;
  readonly data: Buffer;
}

/** The small block of the session `damaged`. */
export const smallBlock = (path: string) =>
  raw(path, (file) => file.prepare("SELECT seq, data FROM payload_block WHERE session_seq = 1 AND entries = ?").get(NAMES.length)) as Block;

export function change(path: string, sql: string, ...parameters: readonly unknown[]): void {
  raw(path, (file) => {
    file.pragma("foreign_keys = OFF");
    file.pragma("ignore_check_constraints = ON");
    file.prepare(sql).run(...parameters);
  });
}

/** What reading each entry gives: its text, or the code of the error. */
export async function readEach(store: Store, id: string, names: readonly string[]): Promise<readonly string[]> {
  const session = await store.openSession(id);
  const read = names.map((name) =>
    session.entry(name).then(
      (entry) => entry.id,
      (error: { readonly code?: string }) => error.code ?? String(error),
    ),
  );
  return Promise.all(read);
}

export const DAMAGED = NAMES.map(() => "PAYLOAD_DAMAGED");
export const FIRST = Array.from({ length: 64 }, (_, at) => `n${at}`);

/** Nothing but the entries of the damaged block is affected. */
export async function expectOthersWhole(path: string): Promise<void> {
  const store = await openStore({ path, durability: "normal" });
  try {
    expect(await readEach(store, "whole", WHOLE)).toEqual(WHOLE);
    const whole = await store.openSession("whole");
    expect((await whole.context()).entries).toEqual(WHOLE);
    expect(await collected(exportBough(whole, { secrets: "keep" }))).toHaveLength(WHOLE.length + 2);
    expect((await store.search({ query: "a1", sessionId: "whole" })).hits).toMatchObject([{ entryId: "a1" }]);
    await store.search({ query: "a1" });
    await (await store.openSession("damaged")).append(entryNamed("u9"));
    await whole.append(entryNamed("u9"));
    await store.pack();
    expect(await readEach(store, "whole", [...WHOLE, "u9"])).toEqual([...WHOLE, "u9"]);
    expect(raw(path, (file) => file.prepare("SELECT row_count FROM session WHERE id = 'whole'").pluck().get())).toBe(0);
    expect(await findingsOf(store, "whole")).toEqual([]);
    await store.backup(`${path}.backup`);
    await store.deleteSession("damaged");
    expect(await findingsOf(store)).toEqual([]);
  } finally {
    await store.close();
  }
}

/** The data of a block, made by hand: its first line, and what follows. */
export const dataOf = (numbers: unknown, body: string | Buffer) =>
  deflateRawSync(Buffer.concat([Buffer.from(`${JSON.stringify(numbers)}\n`), Buffer.from(body)]));
