import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { nothingIsLost } from "../world/mutated-files.js";
import { MUTATIONS } from "../world/mutations.js";

const AGENT_FOLDER = "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093/subagents";
const REAL = ["pi", "claude", `claude/${AGENT_FOLDER}`].map(realSession);

/** Beginnings of real session files, where they are at hand, and small ones with everything that a format has. */
function corpus(): readonly { readonly name: string; readonly content: Buffer }[] {
  const real = REAL.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({ name, content: beginning(readFileSync(join(folder, name))) })),
  );
  return [...real, ...Object.entries(SMALL).map(([name, records]) => ({ name, content: Buffer.from(records.map(jsonLine).join("")) }))];
}

const jsonLine = (record: object): string => `${JSON.stringify(record)}\n`;

function beginning(content: Buffer): Buffer {
  return content.length <= 40_000 ? content : content.subarray(0, content.lastIndexOf(10, 40_000) + 1);
}

const CLAUDE = "11111111-2222-4333-8444-555555555555";
const claude = (type: string, uuid: string, parentUuid: string | null, rest: object) => ({
  type,
  uuid,
  parentUuid,
  sessionId: CLAUDE,
  isSidechain: false,
  timestamp: "2026-01-01T00:00:00Z",
  ...rest,
});
const piEntry = (id: string, parentId: string | null, rest: object) => ({ id, parentId, timestamp: "2026-01-01T00:00:00Z", ...rest });
const user = (content: unknown) => ({ type: "message", message: { role: "user", content } });
const image = { type: "image", data: `blob:sha256:${"a".repeat(64)}`, mimeType: "image/png" };

const SMALL: Readonly<Record<string, readonly object[]>> = {
  "bough.jsonl": [
    { type: "bough-session", version: 1, id: "b", title: "Seed", titleSource: "user", createdAtMs: 1, metadata: { a: 1 } },
    ...["u1", "a1", "u2"].map((id, at) => ({
      type: "entry",
      id,
      parentId: ["u1", "a1"][at - 1] ?? null,
      createdAtMs: at,
      entry: user(id),
    })),
    {
      type: "entry",
      id: "c1",
      parentId: "u2",
      createdAtMs: 9,
      entry: { type: "compaction", summary: "s", firstKeptEntryId: "u2", tokensBefore: 9 },
    },
    { type: "entry", id: "e1", parentId: "c1", createdAtMs: 9, entry: { type: "context_edit", targetId: "u2", replacement: null } },
    { type: "label", entryId: "a1", label: "here", createdAtMs: 3 },
    { type: "leaf", name: "main", entryId: "u2" },
    { type: "value", key: "k", value: [1] },
  ],
  "omp.jsonl": [
    { type: "title", title: "Slot", source: "user" },
    { type: "session", version: 3, id: "omp", timestamp: "2026-01-01T00:00:00Z", cwd: "/x", title: "old" },
    piEntry("a", null, user([{ type: "text", text: "hi" }, image])),
    piEntry("t", "a", { type: "title_change", title: "new" }),
    piEntry("b", "t", { type: "message", message: { role: "assistant", content: "yes", usage: { input: 1 } } }),
    piEntry("l", "b", { type: "label", targetId: "a", label: "start" }),
    piEntry("c", "l", { type: "compaction", summary: "sum", firstKeptEntryId: "b", tokensBefore: 9 }),
    piEntry("d", "c", { type: "model_change", model: "x/y" }),
  ],
  [`${CLAUDE}.jsonl`]: [
    { type: "summary", summary: "Before", leafUuid: "u1" },
    claude("user", "u1", null, { message: { role: "user", content: "go" } }),
    ...["a1", "a2"].map((uuid, at) =>
      claude("assistant", uuid, at === 0 ? "u1" : "a1", {
        message: { id: "m1", role: "assistant", content: [{ type: "text", text: uuid }] },
      }),
    ),
    claude("system", "c1", null, {
      subtype: "compact_boundary",
      logicalParentUuid: "a2",
      compactMetadata: { trigger: "auto", preTokens: 9 },
    }),
    claude("user", "s1", "c1", { isCompactSummary: true, message: { role: "user", content: "what was" } }),
    claude("user", "x1", null, { isSidechain: true, agentId: "x7", message: { role: "user", content: "find it" } }),
    { type: "custom-title", customTitle: "Mine", sessionId: CLAUDE },
  ],
};

const CORPUS = corpus();

test("there are 32 mutations", () => {
  expect(MUTATIONS).toHaveLength(32);
});

test("of any mutated file every record is an entry, part of one, a mark or reported; errors are typed; a second import adds nothing", async () => {
  await nothingIsLost(CORPUS);
});
