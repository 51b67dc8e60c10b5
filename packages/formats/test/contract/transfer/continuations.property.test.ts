import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ContextMessage, type Session, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { grow } from "../../../../session-core/test/world/grow.js";
import { collected, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { type Continuation, exportClaude, exportCodex, exportOpencode, exportPi } from "../../../src/transfer/export.js";
import { importPath } from "../../../src/transfer/import-path.js";

// What `bough resume --in …` writes, read by the importer: the new session has the context of the branch.

const CONTINUES: Continuation = { sessionId: "01a20704-8a67-7db8-aff9-1ebb0e03b7f3", cwd: "/home/ada/parser" };
const TARGETS = {
  pi: { write: exportPi, name: `2026-01-02T03-04-05-000Z_${CONTINUES.sessionId}.jsonl`, tools: ["bash"], keeps: true },
  claude: { write: exportClaude, name: `${CONTINUES.sessionId}.jsonl`, tools: ["Bash"], keeps: true },
  // What a compaction of Codex keeps is in its own list of items, which the importer stores beside the summary.
  codex: { write: exportCodex, name: `rollout-2026-01-02T03-04-05-${CONTINUES.sessionId}.jsonl`, tools: ["exec_command"], keeps: false },
  opencode: { write: exportOpencode, name: `${CONTINUES.sessionId}.json`, tools: ["bash"], keeps: true },
} as const;

/** Ids of opencode begin with `ses`. */
const idIn = (target: keyof typeof TARGETS) => `${target === "opencode" ? "ses_" : ""}${CONTINUES.sessionId}`;

/** The session that a program would go on with, imported. */
async function continued(session: Session, target: keyof typeof TARGETS): Promise<Session> {
  const { write, name } = TARGETS[target];
  const file = join(tempFolder(), name);
  writeFileSync(file, (await collected(write(session, { continues: CONTINUES }))).join(""));
  const store = await openedStore();
  const { sessions } = await importPath(store, file);
  expect(sessions.map(({ sessionId, format, problems }) => [sessionId, format, problems])).toEqual([[idIn(target), target, []]]);
  return store.openSession(idIn(target));
}

/** What a message says, without the ids of its calls. */
function textOf(message: ContextMessage): string {
  if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary;
  if (message.role === "bashExecution") return `${message.command} ${message.output}`;
  if (typeof message.content === "string") return message.content;
  const texts = message.content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "toolCall" ? JSON.stringify(block.arguments) : "";
  });
  return texts.join(" ");
}

/** The names of the entries whose words the context has, in order. */
async function wordsIn(session: Session): Promise<readonly string[]> {
  const { messages } = await session.context({ danglingCalls: "drop" });
  return messages.flatMap((message) => textOf(message).match(/\b[uakrcbny]\d+\b/g) ?? []);
}

async function toolsIn(session: Session): Promise<readonly string[]> {
  const { messages } = await session.context();
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return calls.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
}

/** A conversation in the words of `grow`: prompts, replies, answered calls, notes, summaries, compactions, edits. */
const conversationsOf = (keeps: boolean) =>
  fc
    .array(fc.tuple(fc.constantFrom("u", "u", "a", "k", "n", "b", "c", "x", "y"), fc.nat({ max: 99 })), { minLength: 1, maxLength: 12 })
    .map((choices) => {
      // What a later word may refer to: an edit any of them, a compaction those since the last one.
      const said: Said = { all: ["u0"], sinceCompaction: ["u0"] };
      return ["u0", ...choices.flatMap(([kind, choice], at) => wordsFor(kind, at + 1, choice, said, keeps))].join(" ");
    });

/** The prompts and replies so far. */
interface Said {
  readonly all: string[];
  sinceCompaction: string[];
}

function wordsFor(kind: string, number: number, choice: number, said: Said, keeps: boolean): readonly string[] {
  const name = `${kind}${number}`;
  switch (kind) {
    case "k":
      return [`${name}:call${name}`, `r${number}:call${name}`];
    case "c": {
      const kept = keeps ? said.sinceCompaction[choice % (said.sinceCompaction.length + 1)] : undefined;
      said.sinceCompaction = [];
      return [kept === undefined ? name : `${name}:${kept}`];
    }
    case "x":
    case "y":
      return [`${name}:${said.all[choice % said.all.length] ?? "u0"}`];
    case "u":
    case "a":
      said.all.push(name);
      said.sinceCompaction.push(name);
  }
  return [name];
}

describe.each(["pi", "claude", "codex", "opencode"] as const)("a branch that goes on in %s", (target) => {
  test("has the words of the branch's context, in their order, whatever was edited, compacted or left", async () => {
    await fc.assert(
      fc.asyncProperty(conversationsOf(TARGETS[target].keeps), async (words) => {
        const { session } = await grow(words, { session: { cwd: "/home/ada/parser" } });
        const wanted = await wordsIn(session);
        expect(await wordsIn(await continued(session, target))).toEqual(wanted);
      }),
      { numRuns: runs(25) },
    );
  });

  test("has what a compaction kept, also behind an entry that is omitted", async () => {
    for (const words of ["u1 a1 u2 a2 x1:u2 c1:u2 u3", "u1 a1 u2 a2 c1:u2 x1:u2 u3", "u1 a1 x1:a1 c1:a1 u2", "u1 m1 u2 x1:u1 c1:x1 u3"]) {
      const { session } = await grow(words, { session: { cwd: "/home/ada/parser" } });
      expect(await wordsIn(await continued(session, target)), words).toEqual(await wordsIn(session));
    }
  });

  test("has calls only of tools that the program has", async () => {
    const { session } = await grow("u1 k1:call1 r1:call1 a1");
    expect(await toolsIn(await continued(session, target))).toEqual(TARGETS[target].tools);
  });
});

test.each(["claude", "codex"] as const)("a branch that goes on in %s has of what a compaction names only that", async (target) => {
  const { session } = await grow("u1 a1 u2 a2 u3", { session: { cwd: "/home/ada/parser" } });
  const keptEntryIds = [null, "u1", "u2", "u3"];
  await session.append({ type: "compaction", summary: "b9", firstKeptEntryId: "u1", keptEntryIds });
  await session.append(userMessage("u4"));
  expect(await wordsIn(await continued(session, target))).toEqual(["b9", "u1", "u2", "u3", "u4"]);
});
