import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as adapter from "@bough/adapters/claude-agent-sdk";
import * as core from "@bough/session-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { conversation, PROJECT, SESSION } from "./transcripts.js";

const page = readFileSync(join(import.meta.dirname, "../../../docs/embedding/claude-agent-sdk.md"), "utf8");
const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

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

// The native program of the SDK is not installed, so `query` is what it does to the store: it appends a transcript.
async function* query({ options }: { readonly options: { readonly sessionStore: adapter.BoughSessionStore } }) {
  for (const line of conversation()) await options.sessionStore.append({ projectKey: PROJECT, sessionId: SESSION }, [line]);
  yield { type: "system" };
}

test("the example of docs/embedding/claude-agent-sdk.md runs unchanged, and the last answer is in the store", async () => {
  const code = example.replace(/^import (\{[^}]*\}) from "[^"]+";/gm, "const $1 = given;");
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...code: string[]
  ) => (...given: unknown[]) => Promise<void>;
  await new AsyncFunction("given", code)({ ...core, ...adapter, query });
  const store = await core.openStore({ path: "sessions.db" });
  const path = await (await store.openSession(SESSION)).path();
  expect(path.at(-1)).toMatchObject({ message: { content: [{ text: "The lexer takes tabs now." }] } });
  await store.close();
});
