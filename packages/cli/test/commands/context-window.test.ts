import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../world.js";
import { longSession, standOf } from "./long-session.js";

interface Seen {
  readonly entries: readonly string[];
  readonly tokens: { readonly counter: string; readonly system: number; readonly messages: readonly number[]; readonly total: number };
  readonly request: {
    readonly window: { readonly tokens: number; readonly from: string };
    readonly use: Record<"systemTokens" | "toolTokens" | "messageTokens" | "totalTokens" | "limitTokens" | "thresholdTokens", number>;
    readonly fits: boolean;
    readonly changes: readonly { readonly kind: string }[];
    readonly entries: readonly string[];
  };
}

async function seen(here: World, ...options: readonly string[]): Promise<Seen> {
  return (await here.json("context", "long", ...options)) as Seen;
}

async function withLongSession(model?: string): Promise<World> {
  const here = world();
  await longSession(here, model);
  return here;
}

describe("bough context --exact", () => {
  test.each([
    [undefined, "o200k_base"],
    ["gpt-4", "cl100k_base"],
  ])("counts by the vocabulary of the model %s, and says which", async (model, counter) => {
    const here = await withLongSession(model);
    const { tokens } = await seen(here, "--exact");
    expect(tokens.counter).toBe(counter);
    expect(tokens.messages).toHaveLength(40);
    expect(tokens.total).toBe(tokens.messages.reduce((sum, one) => sum + one, tokens.system));
    const { out } = await here.run(["context", "long", "--exact", "--brief"]);
    expect(out).toContain(`in total (${counter})`);
    expect(out).not.toContain("~");
  });

  test("leaves rough counts marked as such without it", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["context", "parser", "--brief"])).out).toContain("tokens in total (estimated)");
  });

  test("counts at another entry too", async () => {
    const here = await withLongSession();
    expect((await seen(here, "--exact", "--at", "a1")).tokens.messages).toHaveLength(4);
  });
});

describe("bough context --window", () => {
  test("omits nothing if everything fits, and prints how full the window is", async () => {
    const here = await withLongSession();
    const { request, entries, tokens } = await seen(here, "--window", "100000");
    expect(request).toMatchObject({ window: { tokens: 100_000, from: "option" }, fits: true, changes: [], entries });
    expect(request.use.messageTokens).toBe(tokens.total - tokens.system);
    expect(request.use.limitTokens).toBe(100_000);
    const { out } = await here.run(["context", "long", "--window", "100000", "--brief"]);
    const percent = ((100 * request.use.totalTokens) / 100_000).toFixed(1);
    expect(out).toMatch(new RegExp(`^total +[\\d,]+ +${percent.replace(".", "\\.")} %`, "m"));
    expect(out).toContain("It fits.");
    expect(out).not.toContain("dropped");
  });

  test("lists and marks what a smaller one would omit, with the reasons; the newest prompt stays", async () => {
    const here = await withLongSession();
    const { request } = await seen(here, "--window", "3000");
    expect(request.fits).toBe(true);
    expect(request.use.totalTokens).toBeLessThanOrEqual(3000);
    expect(request.changes.map(({ kind }) => kind)).toContain("removed-messages");
    expect(request.entries).toContain("u10");
    expect(request.entries).not.toContain("a1");
    const { out } = await here.run(["context", "long", "--window", "3000", "--brief"]);
    expect(out).toMatch(/^changed: \d+ messages, [\d,]+ tokens dropped: old replies and their results/m);
    expect(out).toMatch(/^assistant {2}a1 .* dropped/m);
    expect(out).not.toMatch(/^user {2}u10 .* dropped/m);
  });

  test("prints the request as a provider would get it", async () => {
    const here = await withLongSession();
    const { out } = await here.run(["context", "long", "--window", "3000", "--format", "openai"]);
    const whole = await here.run(["context", "long", "--format", "openai"]);
    expect(JSON.parse(out).length).toBeLessThan(JSON.parse(whole.out).length);
  });

  test("says which signed thinking it leaves out and why, and what the provider read from its cache", async () => {
    const here = await withLongSession("claude-fable-5-1");
    await here.withStore(async (store) => {
      const session = await store.openSession("long-session");
      const thinking = { type: "thinking", thinking: "", thinkingSignature: "S" } as const;
      const usage = { input: 10, output: 5, cacheRead: 12_000, cacheWrite: 340 };
      for (const n of [1, 2])
        await session.append(assistantMessage([thinking, { type: "text", text: `${n}` }], { model: "claude-fable-5-1", usage }));
      await session.append({ type: "context_edit", targetId: "u1", replacement: { content: "Mend it." } });
      await session.append(userMessage("Go on."));
    });
    const { out } = await here.run(["context", "long", "--window", "100000", "--brief"]);
    expect(out).toContain("left out: 2 thinking blocks: something before them was edited or pruned");
    expect(out).toContain("cache: 12,000 tokens of the newest reply's request were read, 340 written");
    const { request } = (await here.json("context", "long", "--window", "100000")) as { request: object };
    expect(request).toMatchObject({
      thinking: { sent: 0, leftOut: [{ because: "edit", blocks: 2 }] },
      reportedCache: { readTokens: 12_000, writtenTokens: 340 },
    });
  });

  test("uses the window of the model with auto", async () => {
    const here = await withLongSession("gpt-4o");
    expect((await seen(here, "--window", "auto")).request.window).toEqual({ tokens: 128_000, from: "model", model: "gpt-4o" });
  });

  test("counts what the tools take, where that is said", async () => {
    const here = await withLongSession();
    const bare = (await seen(here, "--window", "100000")).request.use;
    const { use } = (await seen(here, "--window", "100000", "--tool-tokens", "700")).request;
    expect(use.toolTokens).toBe(700);
    expect(use.totalTokens).toBe(bare.totalTokens + 700);
  });

  test("never compacts, however small the window is", async () => {
    const here = await withLongSession();
    const before = await standOf(here);
    await here.run(["context", "long", "--window", "1000"]);
    expect(await standOf(here)).toEqual(before);
  });

  test.each([[["--window", "9000", "--at", "a1"]], [["--preset", "pi"]], [["--tool-tokens", "5"]], [["--window", "big"]]])(
    "refuses %j",
    async (options) => {
      const here = await withLongSession();
      expect(await here.run(["context", "long", ...options])).toMatchObject({ exit: 2, out: "" });
    },
  );
});
