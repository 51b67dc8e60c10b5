import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { NOON, type World, world } from "../../world.js";

const DAY = 24 * 3_600_000;

interface Row {
  readonly key: string;
  readonly sessions: number;
  readonly replies: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly repliesWithoutCost: number;
}

interface Grouped {
  readonly rows: readonly Row[];
  readonly total: Omit<Row, "key">;
}

async function grouped(at: World, ...args: readonly string[]): Promise<Grouped> {
  const { out, err, exit } = await at.run(["stats", ...args, "--json"]);
  expect({ err, exit }).toEqual({ err: "", exit: 0 });
  return JSON.parse(out) as Grouped;
}

/** Two sessions of two directories and a fork; replies of three days; one of them without a cost. */
async function replies(at: World): Promise<void> {
  await at.withStore(async (store) => {
    const reply = (model: string, daysAgo: number, output: number, cost?: number) => ({
      ...assistantMessage("Reply", {
        provider: "p",
        model,
        usage: { input: 10, output, ...(cost === undefined ? {} : { cost: { total: cost } }) },
      }),
      createdAtMs: NOON - daysAgo * DAY,
    });
    const one = await store.createSession({ id: "one", title: "One", cwd: "/a", createdAtMs: NOON - 9 * DAY });
    await one.append(userMessage("Hello"));
    await one.append(reply("large", 3, 100, 1));
    await one.append(reply("small", 2, 20, 0.25));
    const fork = await store.forkSession("one", { id: "fork", cwd: "/a" });
    await fork.append(reply("large", 1, 50, 0.5));
    const two = await store.createSession({ id: "two", title: "Two", cwd: "/b", createdAtMs: NOON - 9 * DAY });
    await two.append(reply("free", 1, 7));
  });
}

describe("bough stats --by", () => {
  test.each(["session", "model"])("%s has the share of the input that was read from the provider's cache", async (by) => {
    const here = world();
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "cached" });
      const usage = { input: 10, output: 1, cacheRead: 80, cacheWrite: 10 };
      await session.append(assistantMessage("Reply", { provider: "p", model: "m", usage }));
      await (await store.createSession({ id: "bare" })).append(assistantMessage("Reply", { provider: "p", model: "none" }));
    });
    const { rows } = (await here.json("stats", "--by", by)) as { rows: { cachedInputShare: number | null }[] };
    expect(rows.map(({ cachedInputShare }) => cachedInputShare).sort()).toEqual([0.8, null]);
    expect((await here.run(["stats", "--by", by])).out).toContain("80 %");
  });

  test("says of a cost that rounds to nothing that there is one", async () => {
    const here = world();
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "small" });
      const usage = { input: 10, output: 1 };
      await session.append(assistantMessage("Reply", { provider: "openai", model: "gpt-4o-mini", usage }));
    });
    const { out } = await here.run(["stats", "--by", "model"]);
    expect(out).toContain("<$0.0001");
    expect(out).not.toContain("$0.0000");
  });

  test.each([["day"], ["directory"], ["model"], ["session"], ["agent"]])(
    "%s has rows whose sum is the total, which is that of bough stats",
    async (by) => {
      const here = world();
      await replies(here);
      const { rows, total } = await grouped(here, "--by", by);
      const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
      expect(sum(({ replies }) => replies)).toBe(total.replies);
      expect(sum(({ outputTokens }) => outputTokens)).toBe(total.outputTokens);
      expect(sum(({ costUsd }) => costUsd ?? 0)).toBe(total.costUsd);
      const { usage } = (await here.json("stats")) as { usage: { replies: number; outputTokens: number; costUsd: number }[] };
      expect(total).toMatchObject({ replies: 4, outputTokens: 177, costUsd: 1.75, sessions: 3, repliesWithoutCost: 1 });
      expect(usage.reduce((all, { costUsd }) => all + costUsd, 0)).toBe(total.costUsd);
      expect(usage.reduce((all, one) => all + one.replies, 0)).toBe(total.replies);
    },
  );

  test("day counts a copied reply on the day of its source only, in local time, oldest first", async () => {
    const here = world();
    await replies(here);
    const { rows } = await grouped(here, "--by", "day");
    expect(rows.map(({ key, replies, costUsd }) => [key, replies, costUsd])).toEqual([
      ["2025-11-18", 1, 1],
      ["2025-11-19", 1, 0.25],
      ["2025-11-20", 2, 0.5],
    ]);
  });

  test("counts only replies of the time, and only sessions of the place and the agent", async () => {
    const here = world();
    await replies(here);
    expect((await grouped(here, "--since", "36h")).rows.map(({ key, replies }) => [key, replies])).toEqual([
      ["p/large", 1],
      ["p/free", 1],
    ]);
    expect((await grouped(here, "--by", "model", "--until", "36h")).total).toMatchObject({ replies: 2, costUsd: 1.25 });
    const { out } = await here.run(["stats", "--by", "session", "--here", "--json"], { cwd: "/b" });
    expect((JSON.parse(out) as Grouped).rows.map(({ key, costUsd }) => [key, costUsd])).toEqual([["Two (two)", null]]);
    expect((await grouped(here, "--agent", "pi")).rows).toEqual([]);
  });

  test("prints a total line, and says what has no cost", async () => {
    const here = world();
    await replies(here);
    const { out } = await here.run(["stats", "--by", "model"]);
    expect(out.split("\n").map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
      ["model", "cost", "sessions", "replies"],
      ["p/large", "$1.5000", "2", "2"],
      ["p/small", "$0.2500", "1", "1"],
      ["p/free", "–", "1", "1"],
      ["total", "$1.7500", "3", "4"],
      ["No cost is known for 1 reply: bough prices lists the models whose price is known."],
      [""],
    ]);
    expect((await here.run(["stats", "one", "--by", "day"])).exit).toBe(2);
  });
});
