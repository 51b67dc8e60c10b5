import type { EntryId, Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { readSpan } from "../../src/plan/span.js";
import { planPrune } from "../../src/prune/plan-prune.js";
import { readSettings } from "../../src/settings/read-settings.js";
import { ContextMeter } from "../../src/tokens/context-meter.js";
import { contextNames, findings, grown, plant, turns } from "../world/session.js";

/** About what a tokenizer makes of English. */
const thirds = { name: "thirds/1", count: (text: string) => Math.ceil(text.length / 3) };
const settings = readSettings({ prune: { protectTokens: 100, minSavingsTokens: 0 } }).prune;

async function measured(session: Session): Promise<number> {
  return (await new ContextMeter(session, thirds).measure(await session.context())).total;
}

/** Plans for the session as it is, writes the edits, and gives the plan. */
async function prune(session: Session) {
  const { items } = await readSpan(session, session.leafId as EntryId, new ContextMeter(session, thirds));
  const plan = planPrune({ items, settings, idle: false });
  for (const { targetId, replacement } of plan.edits) await session.append({ type: "context_edit", targetId, replacement });
  return plan;
}

describe("pruning a session", () => {
  test("leaves a valid context that is smaller by what was claimed, and every original readable", async () => {
    const { session, store } = await grown(turns(1, 4), { result: 200 });
    // Each result is larger than all that is protected.
    const order = await contextNames(session);
    const before = await measured(session);
    const originals = await session.path();
    const plan = await prune(session);
    expect(plan.edits.map(({ targetId, because }) => `${targetId} ${because}`)).toEqual(["r1 age", "r2 age", "r3 age", "r4 age"]);
    expect(await contextNames(session)).toBe(order);
    expect(before - (await measured(session))).toBeGreaterThanOrEqual(plan.savedTokens);
    for (const original of originals) expect(await session.entry(original.id)).toEqual(original);
    expect(JSON.stringify((await session.context()).messages[2])).toContain("[Output truncated - ");
    expect(await findings(store)).toEqual([]);
  });

  test("again changes nothing until there are new messages", async () => {
    const { session } = await grown(`${turns(1, 3)} u4 k4 r4:k4`, { result: 200 });
    await prune(session);
    expect((await prune(session)).edits).toEqual([]);
    await plant(session, "a4");
    expect((await prune(session)).edits.map(({ targetId }) => targetId)).toEqual(["r4"]);
  });
});
