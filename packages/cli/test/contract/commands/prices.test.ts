import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type World, world } from "../../world.js";

const PRICE = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4 };
const USED = { input: 100_000, output: 100_000, cacheRead: 200_000, cacheWrite: 25_000 };
/** 0.2 + 1 + 0.1 + 0.1 dollars. */
const ESTIMATE = 1.4;

async function writePrices(here: World, prices: unknown = { "house-model": PRICE }): Promise<void> {
  const path = here.path(".config/bough/config.json");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ prices }));
}

/** A session with a reply without a cost, its fork, and one whose agent recorded the cost of the same model. */
async function replies(here: World): Promise<void> {
  await here.withStore(async (store) => {
    const session = await store.createSession({ id: "plain", title: "Plain" });
    await session.append(userMessage("Hello"));
    await session.append(assistantMessage("Hi", { model: "house-model", usage: USED }));
    await store.forkSession("plain", { id: "fork", title: "Fork" });
    const paid = await store.createSession({ id: "paid", title: "Paid" });
    await paid.append(assistantMessage("Hi", { model: "house-model", usage: { ...USED, cost: { total: 0.25 } } }));
  });
}

describe("the cost of replies that have none", () => {
  test("is an estimate in sessions, stats, show and exports, and counts once whatever was forked", async () => {
    const here = world();
    await writePrices(here);
    await replies(here);
    expect(await here.json("sessions")).toMatchObject({
      sessions: expect.arrayContaining([
        expect.objectContaining({ id: "plain", costUsd: null, estimatedCostUsd: ESTIMATE }),
        expect.objectContaining({ id: "fork", costUsd: null, estimatedCostUsd: null }),
        expect.objectContaining({ id: "paid", costUsd: 0.25, estimatedCostUsd: null }),
      ]),
    });
    expect((await here.run(["sessions"], { columns: 140 })).out).toMatch(/Plain .* ~\$1\.40/);
    expect(await here.json("stats")).toMatchObject({
      usage: [{ model: "house-model", replies: 2, costUsd: 0.25, estimatedCostUsd: ESTIMATE }],
      inheritedUsage: [{ replies: 1, costUsd: 0, estimatedCostUsd: ESTIMATE }],
    });
    expect(await here.json("stats", "--by", "model")).toMatchObject({
      total: { costUsd: 0.25, estimatedCostUsd: ESTIMATE, repliesWithoutCost: 0 },
    });
    expect(await here.json("stats", "--by", "day")).toMatchObject({ total: { costUsd: 0.25, estimatedCostUsd: ESTIMATE } });
    expect((await here.run(["stats"])).out).toMatch(/house-model .* ~\$1\.65/);
    expect((await here.run(["show", "plain", "@leaf"])).out).toContain("~$1.40");
    expect((await here.run(["show", "paid", "@leaf"])).out).toContain("$0.2500");
    expect((await here.run(["export", "plain"])).out).toContain("The replies above cost ~$1.40, estimated from list prices.");
    expect((await here.run(["export", "paid", "--format", "html"])).out).toContain("The replies above cost $0.2500.");
    expect((await here.run(["export", "plain", "--format", "html"])).out).toMatch(/The replies above cost ~\$1\.40/);
  });

  test("is missing where the price of the model is not known", async () => {
    const here = world();
    await replies(here);
    expect(await here.json("stats", "plain")).toMatchObject({ usage: [{ costUsd: 0, estimatedCostUsd: null }] });
    expect((await here.run(["stats", "--by", "model"])).out).toContain("No cost is known for 1 reply");
    expect((await here.run(["export", "plain"])).out).not.toContain("cost");
  });
});

describe("bough prices", () => {
  test("prints the dated table, the prices of the config file first", async () => {
    const here = world();
    await writePrices(here, { "claude-opus-4-5": { input: 1, output: 2 } });
    const { out } = await here.run(["prices", "opus-4-5"]);
    expect(out).toMatch(/claude-opus-4-5 +1 +2 +1 +1 +config file\n *claude-opus-4-5 +5 +25 +0\.5 +6\.25 +Anthropic\n/);
    expect(out).toMatch(/as of \d{4}-\d\d-\d\d, from genai-prices/);
    expect(await here.json("prices", "opus-4-5")).toMatchObject({
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      prices: [{ maker: null, models: ["claude-opus-4-5"], input: 1, cacheRead: 1 }, { maker: "Anthropic" }],
    });
  });

  test("drops the prices of the cache on a narrow terminal rather than the names of models", async () => {
    const lines = (await world().run(["prices", "gpt-5.1-codex-mini"], { columns: 40 })).out.split("\n");
    expect(lines[0]).toMatch(/^model +in +out +from cache$/);
    expect(lines[1]).toMatch(/^gpt-5\.1-codex-m\S* +0\.25 +2 +0\.025$/);
  });

  test("finds the price of a name as an agent wrote it, and says how to add one that is missing", async () => {
    const here = world();
    expect((await here.run(["prices", "us.anthropic.claude-opus-4-5-20251101-v1:0"])).out).toContain("claude-opus-4-5");
    expect((await here.run(["prices", "house-model"])).out).toBe(
      'No price of house-model is known. Add it to the setting prices: { "house-model": { "input": 1, "output": 5 } }.\n',
    );
  });

  test.each([
    [{ "house-model": { input: -1, output: 1 } }, "prices.house-model.input"],
    [{ "house-model": { input: 1 } }, "prices.house-model.output"],
    [{ "house-model": { input: 1, output: 1, cached: 1 } }, "prices.house-model.cached"],
  ])("names a setting that is no price: %j", async (prices, setting) => {
    const here = world();
    await writePrices(here, prices);
    const { err, exit } = await here.run(["prices"]);
    expect(err).toContain(setting);
    expect(exit).toBeGreaterThan(0);
    expect((await here.run(["sessions"])).exit).not.toBe(exit);
  });
});
