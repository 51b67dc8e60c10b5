import { chmodSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type World, world } from "../../world.js";

const PI = "0198a6f2-0000-7000-8000-00000000000a";

/** A session file of pi: two prompts, two replies with tokens and a cost, one reply that reports nothing. */
function piSession(here: World): string {
  const usage = { input: 100, output: 20, cacheRead: 5, cacheWrite: 1, totalTokens: 126, cost: { total: 15.165 } };
  const reply = (text: string, more: object) => ({ role: "assistant", content: [{ type: "text", text }], provider: "p", ...more });
  const messages = [
    { role: "user", content: "a first zebra" },
    reply("the first zebra", { model: "m", usage, stopReason: "stop" }),
    { role: "user", content: "a second zebra" },
    reply("the second zebra", { model: "m", usage, stopReason: "stop" }),
    reply("the silent zebra", { model: "silent", stopReason: "stop" }),
  ];
  const lines = messages.map((message, at) => ({
    type: "message",
    id: `0000000${at}`,
    parentId: at === 0 ? null : `0000000${at - 1}`,
    timestamp: `2025-11-21T10:00:0${at}.000Z`,
    message,
  }));
  const header = { type: "session", version: 3, id: PI, timestamp: "2025-11-21T10:00:00.000Z", cwd: here.folder };
  const file = here.path(`${PI}.jsonl`);
  writeFileSync(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

interface Totals {
  readonly usage: readonly { readonly model: string; readonly replies: number; readonly outputTokens: number; readonly costUsd: number }[];
}

async function totals(here: World): Promise<unknown> {
  const { usage } = (await here.json("stats")) as Totals;
  return usage.map(({ model, replies, outputTokens, costUsd }) => [model, replies, outputTokens, costUsd]);
}

/** Makes a file old: its agent may still write the last reply of one that was written a moment ago. */
const left = (file: string) => utimesSync(file, 0, 0);

const ONCE = [
  ["m", 2, 40, 30.33],
  ["silent", 1, 0, 0],
];

test.each(["pi", "codex", "claude"])(
  "a session resumed in %s and read from there costs what it cost, and is found once",
  async (program) => {
    const here = world();
    await here.run(["import", piSession(here)]);
    expect(await totals(here)).toEqual(ONCE);
    const bin = here.path("bin");
    mkdirSync(bin);
    writeFileSync(join(bin, program), "#!/bin/sh\n");
    chmodSync(join(bin, program), 0o755);
    const resumed = await here.run(["resume", PI, "--in", program, "--json", "--write"], { env: { PATH: `${bin}:/bin:/usr/bin` } });
    const { file } = JSON.parse(resumed.out) as { readonly file: string };
    left(file);
    expect((await here.run(["import", file])).exit).toBe(0);
    expect(await totals(here)).toEqual(ONCE);
    const { out } = await here.run(["search", "zebra"]);
    expect(out).toContain("5 matches");
    expect(out.match(/also in 1 fork\b/g)).toHaveLength(5);
    const byDay = (await here.json("stats", "--by", "day")) as { readonly total: object };
    expect(byDay.total).toMatchObject({ replies: 3, outputTokens: 40, costUsd: 30.33, recordedReplies: 2 });
    const byAgent = (await here.json("stats", "--by", "agent")) as { readonly rows: readonly { readonly key: string }[] };
    expect(byAgent.rows.map(({ key }) => key)).toEqual(["pi"]);
  },
);

test("tokens that no reply reports are a dash, in totals and in groups", async () => {
  const here = world();
  await here.run(["import", piSession(here)]);
  const row = (out: string) => out.split("\n").find((line) => line.includes("silent"));
  expect(row((await here.run(["stats"])).out)).toMatch(/silent +1 +– +– +– +– +–/);
  expect(row((await here.run(["stats", "--by", "model"])).out)).toMatch(/silent +– +1 +1 +– +– +– +–/);
});

test("what a session inherited is apart from what it used", async () => {
  const here = world();
  await here.run(["import", piSession(here)]);
  const resumed = await here.run(["resume", PI, "--in", "pi", "--json", "--write"], {});
  const { file, sessionId } = JSON.parse(resumed.out) as { readonly file: string; readonly sessionId: string };
  left(file);
  await here.run(["import", file]);
  const { out } = await here.run(["stats", sessionId]);
  expect(out).toMatch(/^1 session, \d+ entries \(of which \d+ copies\), /);
  expect(out).toContain("inherited: copied from another session, where it counts");
  expect(out).not.toMatch(/^used$/m);
});
