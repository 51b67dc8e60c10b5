import { expect, test } from "vitest";
import { modelKey } from "../../src/context/model-key.js";
import { parseTodos } from "../../src/tools/arguments.js";
import { describeCall } from "../../src/tools/describe-call.js";
import { viewEntry } from "../../src/view/entry-view.js";
import { PriceList } from "../../src/view/prices.js";

// Names and arguments come from files. Linear code takes milliseconds for each of these, a quadratic pattern minutes.
const MANY = 1_000_000;

test("a model name with many brackets or colons is read in linear time", () => {
  expect(modelKey({ provider: undefined, modelId: `gpt-5${":".repeat(MANY)}\n:` })).toBe(" gpt-5");
  expect(new PriceList().find("openai", `gpt-5${"[".repeat(MANY)}`)).toBeUndefined();
});

test("a directory of many slashes is read in linear time, and shortens no path", () => {
  const call = { name: "read", arguments: { path: "/work/a.ts" } };
  expect(describeCall(call, { directory: `${"/".repeat(MANY)}x` }).detail).toBe("/work/a.ts");
});

test("a todo line without a text is no item, and is read in linear time", () => {
  expect(parseTodos({ name: "TodoWrite", arguments: { todos: `[done]${"\t".repeat(MANY)}` } })).toBeNull();
  expect(parseTodos({ name: "TodoWrite", arguments: { todos: "  1. [in_progress]  Read it \n- [done] Write" } })).toEqual([
    { text: "Read it", state: "doing" },
    { text: "Write", state: "done" },
  ]);
});

test("the size of an image is computed in linear time, whatever its data begins with", () => {
  const data = `${"=".repeat(MANY)}x`;
  const view = viewEntry({ type: "message", message: { role: "user", content: [{ type: "image", mimeType: "image/png", data }] } });
  expect(JSON.stringify(view)).toContain(`"bytes":${Math.floor((data.length * 3) / 4)}`);
});
