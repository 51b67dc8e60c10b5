import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openStore } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { KEYS } from "../crash/keys.mjs";

const USER = fileURLToPath(new URL("key-user.mjs", import.meta.url));
const run = promisify(execFile);
/** What each process does, its name, and how often. */
const PROCESSES = [
  ["append", "a1", 60],
  ["append", "a2", 60],
  ["read", "r1", 40],
  ["change", "c1", 8],
  ["change", "c2", 8],
] as const;

async function openWithAnyKey(path: string) {
  for (const key of KEYS) {
    const store = await openStore({ path, key }).catch((error: { code?: string }) => {
      expect(error.code).toMatch(/^(STORE_LOCKED|STORE_NOT_LOCKED|WRONG_KEY)$/);
      return undefined;
    });
    if (store !== undefined) return store;
  }
  throw new Error("No key fits.");
}

test("processes that open, append to and read a store while others lock, unlock and rekey it lose nothing, and leave one file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-key-change-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const created = await openStore({ path });
  await created.createSession({ id: "shared" });
  await created.close();
  const outputs = await Promise.all(PROCESSES.map(([what, name, count]) => run(process.execPath, [USER, what, path, name, `${count}`])));
  const said = outputs.map(({ stdout }) => JSON.parse(stdout) as { acknowledged: string[]; changes: number; errors: string[] });
  expect(said.flatMap(({ errors }) => errors)).toEqual([]);
  expect(said.reduce((sum, { changes }) => sum + changes, 0)).toBe(16);
  const store = await openWithAnyKey(path);
  const ids: string[] = [];
  for await (const { id } of (await store.openSession("shared")).entries()) ids.push(id);
  expect(ids.sort()).toEqual(said.flatMap(({ acknowledged }) => acknowledged).sort());
  for await (const { message } of store.verify()) expect.fail(message);
  await store.close();
  expect(readdirSync(folder)).toEqual(["store.db"]);
});
