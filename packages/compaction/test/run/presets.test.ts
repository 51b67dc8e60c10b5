import { toAnthropic, toOpenAiChat } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { findings, grown, model, plant, turns } from "../world/session.js";

/** Every tool message answers a call of the reply before it. */
function isPaired(messages: readonly unknown[]): boolean {
  let open = new Set<unknown>();
  for (const message of messages as readonly { role: string; tool_calls?: readonly { id: string }[]; tool_call_id?: string }[]) {
    if (message.role === "tool" && !open.delete(message.tool_call_id)) return false;
    if (message.role !== "tool") open = new Set((message.tool_calls ?? []).map(({ id }) => id));
  }
  return true;
}

/** A conversation of sixty turns in a window that holds about a dozen, as an agent with this preset lives through it. */
async function lived(preset: PresetName) {
  const { store, session } = await grown("");
  const { summarizer } = model("<analysis>x</analysis><summary>\n## Goal\nGo on.\n</summary>");
  const compactor = createCompactor({
    session,
    contextWindow: 6_000,
    settings: { preset, keep: { recentTokens: 1_000 } },
    summarizer,
    random: () => 0.5,
  });
  const seen = { compactions: 0, requests: 0, paired: 0, largest: 0 };
  for (let turn = 1; turn <= 60; turn += 1) {
    const [prompt = "", call = "", result = "", answer = ""] = turns(turn, turn).split(" ");
    for (const step of [[prompt], [call, result], [answer]]) {
      await plant(session, step.join(" "));
      if (step[0] === answer) break;
      const { context, use } = await compactor.prepareRequest();
      seen.requests += 1;
      seen.paired += isPaired(toOpenAiChat(context)) ? 1 : 0;
      seen.largest = Math.max(seen.largest, use.totalTokens);
      toAnthropic(context);
    }
    await compactor.turnEnded();
  }
  await compactor.close();
  seen.compactions = (await session.path()).filter(({ type }) => type === "compaction").length;
  return { ...seen, findings: await findings(store) };
}

describe.each(Object.keys(PRESETS) as PresetName[])("an agent with the preset %s", (preset) => {
  test("stays within its window for sixty turns, with valid contexts and a sound store", async () => {
    const seen = await lived(preset);
    expect(seen.compactions).toBeGreaterThan(0);
    // It makes progress and does not compact at every step.
    expect(seen.compactions).toBeLessThan(30);
    expect(seen.paired).toBe(seen.requests);
    expect(seen.largest).toBeLessThanOrEqual(6_000);
    expect(seen.findings).toEqual([]);
  });
});
