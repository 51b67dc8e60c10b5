import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import type { ContextMessage, SessionContext } from "../../../src/context/context.js";
import type { DanglingCalls } from "../../../src/context/tool-pairs.js";
import type { Entry } from "../../../src/entry/entry.js";
import { follow, grow } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

describe("the context, after anything that can happen to a session", () => {
  test("of a handle that lives on is the context of one opened anew", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) {
          await follow(session, model, step);
          const living = await session.context();
          const fresh = await (await store.openSession(session.id)).context();
          expect(living).toEqual(fresh);
          expect(await session.context({ leafId: session.leafId })).toEqual(fresh);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  test("of a handle that lives on has what another handle wrote and moved meanwhile", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const { session } = await grow("u a", { store });
        const watcher = await store.openSession(session.id);
        const model = new TreeModel();
        model.parents.set("u", null).set("a", "u");
        model.leaf = "a";
        for (const step of taken) {
          await follow(session, model, step);
          expect(await watcher.context()).toEqual(await session.context());
        }
      }),
      { numRuns: runs(20) },
    );
  });

  test("is the one that the rules give, applied to the whole path without any short cut", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) await follow(session, model, step);
        const path = await session.path();
        const { model: set, thinkingLevel, system, compaction, entries } = await session.context({ danglingCalls: "drop" });
        const byRule = shownByRule(path);
        expect(entries.filter((id) => !/^[kr]/.test(id))).toEqual(byRule.shown.filter((id) => !/^[kr]/.test(id)));
        expect(compaction?.entryId ?? null).toBe(byRule.compaction);
        expect(set?.modelId ?? null).toBe(path.findLast(({ id }) => id.startsWith("m"))?.id ?? null);
        expect(thinkingLevel).toBe(path.findLast(({ id }) => id.startsWith("h"))?.id ?? null);
        expect(system).toBe(systemByRule(path));
      }),
      { numRuns: runs(100) },
    );
  });

  test("has each tool result behind its call, and no call without one", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom("close", "drop" as const), async (taken, danglingCalls) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) await follow(session, model, step);
        for (const leafId of model.parents.keys()) expectPaired(await session.context({ leafId, danglingCalls }), danglingCalls);
      }),
      { numRuns: runs(30) },
    );
  });
});

function expectPaired({ messages, entries }: SessionContext, danglingCalls: DanglingCalls): void {
  expect(entries).toHaveLength(messages.length);
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      expect(open.shift()).toBe(message.toolCallId);
      expect(message["synthetic"] === true && danglingCalls === "drop").toBe(false);
    } else {
      expect(open).toEqual([]);
      open = callsOf(message);
    }
  }
  expect(open).toEqual([]);
}

function callsOf(message: ContextMessage): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

/** The newest system message that is not omitted, with the words that its last edit gives it. */
function systemByRule(path: readonly Entry[]): string | null {
  const edits = new Map(path.flatMap((entry) => (entry.type === "context_edit" ? [[entry.targetId, entry.replacement] as const] : [])));
  const system = path.findLast(({ id }) => id.startsWith("s") && edits.get(id) !== null);
  return system === undefined ? null : String(edits.get(system.id)?.content ?? system.id);
}

/** The rules of the design, word for word: what a context shows of a path, results and calls not yet paired. */
function shownByRule(path: readonly Entry[]): { readonly shown: readonly string[]; readonly compaction: string | null } {
  const omitted = new Set<string>();
  for (const entry of path) {
    if (entry.type !== "context_edit") continue;
    if (entry.replacement === null) omitted.add(entry.targetId);
    else omitted.delete(entry.targetId);
  }
  const compaction = path.findLast((entry) => entry.type === "compaction" && !omitted.has(entry.id));
  const firstKept = compaction?.type === "compaction" ? (compaction.firstKeptEntryId ?? compaction.id) : path[0]?.id;
  const window = path.slice(path.findIndex(({ id }) => id === firstKept));
  const visible = window.filter(({ id, type }) => !omitted.has(id) && /^[uaknrb]/.test(id) && type !== "compaction");
  return {
    shown: [...(compaction === undefined ? [] : [compaction.id]), ...visible.map(({ id }) => id)],
    compaction: compaction?.id ?? null,
  };
}
