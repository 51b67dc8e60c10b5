import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { piFormat } from "../../src/pi/format.js";
import { readsOnAlike } from "../world/read-on.js";
import { at, HEADER, user } from "./pi-files.js";

const REAL = realSession("pi");

const label = (id: string, parentId: string, targetId: string, text: string) => at(id, parentId, { type: "label", targetId, label: text });
const title = (id: string, parentId: string, name: string) => at(id, parentId, { type: "session_info", name });
const compaction = (id: string, parentId: string, kept: object) =>
  at(id, parentId, { type: "compaction", summary: "s", tokensBefore: 5, ...kept });
const unnamed = { type: "message", message: { role: "user", content: "hi" } };

/** Small files with everything that a reader remembers of earlier lines. */
const FILES: Readonly<Record<string, readonly (object | string)[]>> = {
  "labels in the chain": [
    ...[
      HEADER,
      user("a", null),
      label("l", "a", "a", "x"),
      title("t", "l", "T"),
      user("b", "t"),
      compaction("c", "b", { firstKeptEntryId: "t" }),
    ],
    ...[label("m", "c", "b", "y"), user("d", "m"), title("u", "d", "U"), label("n", "u", "l", "z")],
  ],
  "no ids and no parents": [{ ...HEADER, version: 1, provider: "p", modelId: "m" }, unnamed, unnamed, "{ torn", unnamed],
  "counted first kept entry": [
    { ...HEADER, version: 1 },
    unnamed,
    unnamed,
    { type: "compaction", summary: "s", firstKeptEntryIndex: 2 },
    unnamed,
  ],
  "title slot": [{ type: "title", title: "slot", source: "user" }, HEADER, user("a", null), title("t", "a", "logged"), user("b", "t")],
  "blank and bad lines": [HEADER, user("a", null), "", "nothing", user("b", "a"), "", user("c", "b")],
};

const bytes = (lines: readonly (object | string)[]) =>
  Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

test.each(Object.keys(FILES))("a file that grows is read on as it is read whole: %s", (name) => {
  const content = bytes(FILES[name] ?? []);
  const first = content.includes('"slot"') ? 2 : 1;
  readsOnAlike(piFormat, "s.jsonl", content, { first });
  readsOnAlike(piFormat, "s.jsonl", content, { first, cutInto: 9 });
  // Its header without the end of the line.
  readsOnAlike(piFormat, "s.jsonl", content, { first, most: 1, cutInto: -1 });
});

test.runIf(existsSync(REAL))("real files are read on as they are read whole", () => {
  const files = readdirSync(REAL).filter((name) => name.endsWith(".jsonl"));
  expect(files).not.toEqual([]);
  for (const name of files) readsOnAlike(piFormat, name, readFileSync(join(REAL, name)), { most: 12, cutInto: 40 });
});
