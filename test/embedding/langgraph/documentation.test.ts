import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as adapter from "@bough/adapters/langgraph";
import * as core from "@bough/session-core";
import * as messages from "@langchain/core/messages";
import * as langgraph from "@langchain/langgraph";
import { transform } from "esbuild";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../../docs/embedding/langgraph.md"), "utf8");
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");

/** Runs an example unchanged in its own folder; returns its variables. */
async function run(example: string, names: readonly string[]): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const { code } = await transform(example.replace(/^import (\{[^}]*\}) from "[^"]+";/gm, "const $1 = given;"), { loader: "ts" });
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...code: string[]
    ) => (...given: unknown[]) => Promise<never>;
    return await new AsyncFunction("given", `${code}\nreturn { ${names.join(", ")} };`)({ ...core, ...adapter, ...messages, ...langgraph });
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the first example of docs/embedding/langgraph.md runs unchanged", async () => {
  const { messages } = await run(examples[0] ?? "", ["messages"]);
  expect(messages).toMatchObject([{ content: "Why does the parser fail on tabs?" }, { content: "The lexer counts a tab as one column." }]);
});

test("a checkpointer takes one line", () => {
  expect(examples[0]?.split("\n").filter((line) => line.includes("BoughSaver(")).length).toBe(1);
});

test("the example of a fork runs unchanged: the other answer is on its own branch", async () => {
  const { other, branches } = await run(examples[1] ?? "", ["other", "branches"]);
  expect(other).toMatchObject({ messages: [{}, {}, { content: "Is there another way?" }, { content: "Answer 3" }] });
  expect(branches).toHaveLength(2);
});
