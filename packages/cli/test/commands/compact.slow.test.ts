import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fail, startModelServer } from "../../../compaction/test/model/model-server.js";
import type { World } from "../world.js";
import { BEFORE, messagesOf, standOf, withLongSession } from "./long-session.js";

describe("bough compact without a model", () => {
  test.each([["pi"], ["oh-my-pi"], ["co-cli"], ["copilot-cli"], ["vscode"], ["python-agent"]])(
    "takes the extract also with the preset %s, which would fail or leave a fixed line",
    async (preset) => {
      const here = await withLongSession();
      expect(await here.json("compact", "long", "--preset", preset, "--keep", "400")).toMatchObject({ method: "extract" });
    },
  );

  test("exits with 50 and the reason if there is nothing to do", async () => {
    const here = await withLongSession();
    expect(await here.run(["compact", "long"])).toMatchObject({
      exit: 5,
      code: "NOTHING_TO_COMPACT",
      out: "",
      err: "bough: Nothing to compact: all messages fit into the kept tail. --keep TOKENS keeps fewer.\n",
    });
    expect(await standOf(here)).toEqual(BEFORE);
  });

  test("uses the newest session of this directory, not of another one", async () => {
    const here = await withLongSession();
    expect((await here.run(["compact"])).code).toBe("NO_SESSION");
  });
});

describe("bough compact --dry-run", () => {
  test("prints the same message as the compaction if there is nothing to do", async () => {
    const here = await withLongSession();
    expect((await here.run(["compact", "long", "--dry-run"])).code).toBe("NOTHING_TO_COMPACT");
  });
});

describe("the config file", () => {
  const configured = async (config: object) => {
    const here = await withLongSession();
    mkdirSync(here.path(".config/bough"), { recursive: true });
    writeFileSync(here.path(".config/bough/config.json"), JSON.stringify(config));
    return here;
  };
  const keptBy = async (here: World, ...options: readonly string[]) => {
    const { plan } = (await here.json("compact", "long", "--dry-run", ...options)) as {
      readonly plan: { readonly keep: { readonly messages: number } };
    };
    return plan.keep.messages;
  };

  test("sets the preset of bough compact, and --preset and --keep override it", async () => {
    const here = await configured({ preset: "copilot-cli" });
    expect(await keptBy(here)).toBe(0);
    expect(await keptBy(here, "--preset", "vscode")).toBeGreaterThan(0);
    expect(await keptBy(here, "--keep", "400")).toBeGreaterThan(0);
  });

  test("sets single settings of the preset for bough compact and bough context", async () => {
    const here = await configured({ compaction: { keep: { recentTokens: 400 }, trigger: { threshold: 0.25 } } });
    expect(await keptBy(here)).toBe(await keptBy(await withLongSession(), "--keep", "400"));
    const { request } = (await here.json("context", "long", "--window", "100000")) as { readonly request: { readonly use: object } };
    expect(request.use).toMatchObject({ thresholdTokens: 25_000 });
  });

  test("names the model that writes the summary, its URL and the variable of its key", async () => {
    const server = await startModelServer();
    const here = await configured({ model: "m3", baseUrl: server.baseURL, apiKeyEnv: "MINE" });
    server.otherwise("## Goal\nMend the parts: src/part-1.ts.");
    expect((await here.run(["compact", "long", "--keep", "400"], { env: { MINE: "secret-3" } })).out).toContain("written by: m3\n");
    expect(server.requests[0]).toMatchObject({ headers: { authorization: "Bearer secret-3" }, body: { model: "m3" } });
  });

  test("with an invalid setting stops the command before anything is written, in one line", async () => {
    const here = await configured({ compaction: { keep: { recentTokens: "many" } } });
    const { exit, err } = await here.run(["compact", "long"]);
    expect(exit).toBe(2);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toContain("compaction.keep.recentTokens must be a number");
  });
});

describe("bough compact --undo", () => {
  test("exits with 6 if there is none", async () => {
    const here = await withLongSession();
    expect(await here.run(["compact", "long", "--undo"])).toMatchObject({ exit: 5, code: "NOTHING_TO_UNDO", out: "" });
  });
});

describe("bough compact with a model", () => {
  const KEEP = ["compact", "long", "--keep", "400"];

  test("asks it with the key of the environment, and names it as the writer", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise("## Goal\nMend the parts: src/part-1.ts.");
    const env = { BOUGH_MODEL: "m1", BOUGH_BASE_URL: server.baseURL, BOUGH_API_KEY: "secret-1" };
    const { exit, out, err } = await here.run(KEEP, { env });
    expect({ exit, err }).toEqual({
      exit: 0,
      err: "m1 writes the summary\nThe summary lacks most facts of its source; --undo undoes the compaction.\n",
    });
    expect(out).toContain("written by: m1\n");
    expect(out + err).not.toContain("secret-1");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer secret-1");
    expect(server.requests[0]?.body.model).toBe("m1");
    const [summary] = (await messagesOf(here)) as readonly { readonly summary?: string }[];
    expect(summary?.summary).toContain("Mend the parts: src/part-1.ts.");
  });

  test("adds a note if it failed, or if a focus has no effect without a model", async () => {
    const here = await withLongSession();
    const env = { BOUGH_MODEL: "m1", BOUGH_BASE_URL: "http://127.0.0.1:1/v1" };
    expect((await here.run(KEEP, { env })).err).toMatch(/^m1 failed, so no model wrote this summary: /m);
    const other = await withLongSession();
    expect((await other.run([...KEEP, "--focus", "the lexer"])).err).toContain("--focus has no effect on an extract");
  });

  test("adds a note if its answer contains nothing of the session", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise("I'm sorry, but I can't help with that.");
    const { exit, out, err } = await here.run([...KEEP, "--model", "m1", "--base-url", server.baseURL]);
    expect(exit).toBe(0);
    expect(err).toMatch(/^m1 failed, so no model wrote this summary: .*has almost none of the facts that it replaces/m);
    expect(out).toContain("because m1 returned no usable summary");
  });

  test("prefers options to the environment, and does not send its key to another address", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    const env = { BOUGH_MODEL: "m1", BOUGH_BASE_URL: "http://127.0.0.1:1/v1", BOUGH_API_KEY: "secret-1" };
    expect((await here.run([...KEEP, "--model", "m2", "--base-url", server.baseURL], { env })).exit).toBe(0);
    expect(server.requests[0]?.body.model).toBe("m2");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("reads the key of the variable that is named", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    const typed = [...KEEP, "--model", "m2", "--base-url", server.baseURL, "--api-key-env", "OTHER_KEY"];
    await here.run(typed, { env: { OTHER_KEY: "secret-2", BOUGH_API_KEY: "secret-1" } });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer secret-2");
  });

  test("asks none with --extract", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    const env = { BOUGH_MODEL: "m1", BOUGH_BASE_URL: server.baseURL };
    expect((await here.run([...KEEP, "--extract"], { env })).out).toContain("written by: no model");
    expect(server.requests).toHaveLength(0);
  });

  test("falls back to the extract if the model fails, and prints the reason", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise(fail(401, { error: { message: "That key is not known" } }));
    const { exit, out } = await here.run([...KEEP, "--model", "m1", "--base-url", server.baseURL]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^written by: no model: it is an extract of the entries, because m1 failed: .*That key is not known/m);
  });

  test("exits with 52 and writes nothing if the preset does not allow an extract", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise(fail(401, "no"));
    expect(await here.run([...KEEP, "--preset", "pi", "--model", "m1", "--base-url", server.baseURL])).toMatchObject({
      exit: 7,
      code: "SUMMARIZER_CALL",
      out: "",
    });
    expect(await standOf(here)).toEqual(BEFORE);
  });

  test("shows what a model wrote, and lets the terminal obey nothing of it", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise("Mend \u001b[31mthe parts\u202e of src/part-1.ts now.");
    const { out } = await here.run([...KEEP, "--model", "m1", "--base-url", server.baseURL]);
    expect(out).toContain("the parts");
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });
});

describe("bough compact refuses", () => {
  test.each<[string[], Record<string, string>, string]>([
    [["--undo", "--dry-run"], {}, "--undo cannot be combined with other options."],
    [["--model", "m1"], {}, "The URL of the model is missing"],
    [["--base-url", "http://127.0.0.1:1/v1"], {}, "The model is missing"],
    [["--model", "m1", "--base-url", "ftp://x"], {}, "must begin with http:// or https://"],
    [["--model", "m1", "--base-url", "http://127.0.0.1:1", "--api-key-env", "sk_typed_by_mistake"], {}, "the variable is not set"],
    [["--extract", "--model", "m1"], {}, "cannot be used with"],
    [["--preset", "mine"], {}, "Allowed choices are balanced, pi,"],
    [["--keep", "-1"], {}, "must be an integer"],
    [["--window", "0"], {}, "must be an integer"],
    [[], { BOUGH_MODEL: "m1" }, "/v1. `bough compact` and `bough go` use no model with --extract."],
  ])("%j with %j", async (options, env, message) => {
    const here = await withLongSession();
    const { exit, out, err } = await here.run(["compact", "long", ...options], { env });
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("sk_typed_by_mistake");
    expect(await standOf(here)).toEqual(BEFORE);
  });
});
