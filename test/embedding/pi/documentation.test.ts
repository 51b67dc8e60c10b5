import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as adapter from "@bough/adapters/pi";
import * as core from "@bough/session-core";
import * as pi from "@earendil-works/pi-agent-core";
import { transformSync } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { says, scriptedModel } from "./faux.js";

const page = readFileSync(join(import.meta.dirname, "../../../docs/embedding/pi-storage.md"), "utf8");
const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");

let folder: string;
const before = process.cwd();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-example-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs an example unchanged, and returns the function that it exports, if it does. */
async function run(example: string | undefined): Promise<unknown> {
  const { code } = transformSync(example ?? "", { loader: "ts" });
  const body = code.replace(/^import (\{[^}]*\}) from "[^"]+";/gm, "const $1 = given;").replace(/^export (async function)/m, "return $1");
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...code: string[]
  ) => (...given: unknown[]) => Promise<unknown>;
  return new AsyncFunction("given", body)({ ...pi, ...core, ...adapter });
}

/** Roles of the messages of the newest session, system messages left out. */
async function roles(store: core.Store): Promise<readonly unknown[]> {
  const [newest] = (await store.listSessions()).items;
  const path = await (await store.openSession(newest?.id ?? "")).path();
  return path.flatMap((entry) => (entry.type === "message" && entry.message.role !== "system" ? [entry.message.role] : []));
}

test("the first example of docs/embedding/pi-storage.md runs unchanged, and the message is in the store", async () => {
  await run(examples[0]);
  const store = await core.openStore({ path: "sessions.db" });
  expect(await roles(store)).toEqual(["user"]);
  await store.close();
});

test("the example with pi's agent runs unchanged, and the answer is in the store", async () => {
  const store = await core.openStore({ path: "sessions.db" });
  const repo = new adapter.BoughSessionRepo(store);
  const ask = (await run(examples[1])) as (question: string, options: object) => Promise<unknown>;
  await ask("How wide is a tab?", { session: await repo.create(), ...scriptedModel([says("Eight columns.")]) });
  expect(await roles(store)).toEqual(["user", "assistant"]);
  await repo.close(pi.BACKGROUND_CONTEXT);
  await store.close();
});
