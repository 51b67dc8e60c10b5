import { describe, expect, test } from "vitest";
import { startModelServer } from "../../../compaction/test/model/model-server.js";
import { type ChatOptions, chooseChatModel, chooseEndpoint } from "../../src/agent/chat-model.js";
import type { Config } from "../../src/config/schema.js";
import { Shell } from "./shell.js";

const HERE = "http://127.0.0.1:11434/v1";
const THERE = "https://models.example.org/v1";
const ANTHROPIC = "https://api.anthropic.com/v1";

function chosen(env: Record<string, string>, config: Config = {}, options: ChatOptions = {}) {
  return chooseEndpoint(env, config, options);
}

describe("the model that answers", () => {
  test("is undefined if none is named: the shell is a notebook", () => {
    expect(chosen({})).toBeNull();
    expect(chosen({ BOUGH_MODEL: " ", BOUGH_BASE_URL: HERE })).toBeNull();
  });

  test("is named by option, then environment, then config", () => {
    const config: Config = { model: "c", baseUrl: "http://config.example/v1" };
    expect(chosen({}, config)).toMatchObject({ name: "c", baseURL: "http://config.example/v1" });
    expect(chosen({ BOUGH_MODEL: "e", BOUGH_BASE_URL: THERE }, config)).toMatchObject({ name: "e", baseURL: THERE });
    expect(chosen({ BOUGH_MODEL: "e", BOUGH_BASE_URL: THERE }, config, { model: "o", baseUrl: HERE })).toMatchObject({
      name: "o",
      baseURL: HERE,
    });
  });

  test.each([
    [{ model: "claude-sonnet-4-5" }, ANTHROPIC, "anthropic"],
    [{ model: "x", provider: "anthropic" }, ANTHROPIC, "anthropic"],
    [{ model: "x", baseUrl: "https://api.anthropic.com/v1" }, ANTHROPIC, "anthropic"],
    [{ model: "claude-sonnet-4-5", baseUrl: HERE }, HERE, "openai-compatible"],
    [{ model: "x", baseUrl: HERE, provider: "anthropic" }, HERE, "anthropic"],
  ] as const)("speaks what its address says: %j", (options, baseURL, provider) => {
    expect(chosen({}, {}, options)).toMatchObject({ baseURL, provider });
    expect(chosen({}, options)).toMatchObject({ baseURL, provider });
  });

  test.each([
    [{ model: "x" }, "The URL of the model is missing"],
    [{ baseUrl: HERE }, "The model is missing"],
    [{ apiKeyEnv: "KEY" }, "The model is missing"],
    [{ model: "", baseUrl: HERE }, "The model is missing"],
    [{ model: "x", baseUrl: "ftp://ann:pw@host" }, "must begin with http"],
    [{ model: "x", baseUrl: HERE, apiKeyEnv: "sk-secret" }, "is not set"],
  ])("is refused where it is named in part: %j", (options, says) => {
    expect(() => chosen({}, {}, options)).toThrow(says);
    expect(() => chosen({}, {}, options)).not.toThrow(/pw@|sk-secret/);
  });

  test("has the window that was given, or that of its name, or 200,000 tokens", () => {
    const window = (options: ChatOptions, config: Config = {}) => chooseChatModel({}, config, { baseUrl: HERE, ...options })?.windowTokens;
    expect(window({ model: "gpt-4o" })).toBe(128_000);
    expect(window({ model: "unknown" })).toBe(200_000);
    expect(window({ model: "gpt-4o" }, { window: 9_000 })).toBe(9_000);
    expect(window({ model: "gpt-4o", window: 7_000 }, { window: 9_000 })).toBe(7_000);
  });
});

describe("a key", () => {
  const key = (env: Record<string, string>, config: Config, options: ChatOptions) =>
    chosen(env, config, { model: "m", ...options })?.apiKey;
  const env = { BOUGH_BASE_URL: THERE, BOUGH_API_KEY: "shared", MINE: "mine" };

  test("belongs to the address of the environment", () => {
    expect(key(env, {}, {})).toBe("shared");
    expect(key(env, {}, { baseUrl: THERE })).toBe("shared");
    expect(key(env, {}, { baseUrl: HERE })).toBeUndefined();
    expect(key({ BOUGH_API_KEY: "shared" }, {}, { baseUrl: HERE })).toBe("shared");
  });

  test("of the config belongs to the config's address", () => {
    const config: Config = { baseUrl: HERE, apiKeyEnv: "MINE" };
    expect(key({ MINE: "mine" }, config, {})).toBe("mine");
    expect(key({ MINE: "mine", BOUGH_API_KEY: "shared" }, config, { baseUrl: THERE })).toBeUndefined();
    expect(key(env, config, {})).toBe("shared");
    expect(key(env, config, { baseUrl: HERE })).toBe("mine");
  });

  test("that the command line names is requested at the URL of the command line", () => {
    expect(key(env, {}, { baseUrl: HERE, apiKeyEnv: "MINE" })).toBe("mine");
  });

  test("for Anthropic goes to Anthropic alone", () => {
    const own = { ANTHROPIC_API_KEY: "ant", BOUGH_API_KEY: "shared" };
    expect(key(own, { model: "claude-x" }, { model: "claude-x" })).toBe("shared");
    expect(key({ ANTHROPIC_API_KEY: "ant" }, {}, { model: "claude-x" })).toBe("ant");
    expect(key({ ANTHROPIC_API_KEY: "ant" }, {}, { model: "claude-x", baseUrl: HERE })).toBeUndefined();
    expect(key(own, { model: "claude-x" }, { model: "claude-x", baseUrl: HERE })).toBeUndefined();
  });
});

describe("a request", () => {
  test("sends the key in the header of its provider, and user name and password of the URL as a header", async () => {
    const shell = await Shell.open();
    const { baseURL } = shell.server;
    await shell.turn("One", { model: { baseUrl: baseURL.replace("http://", "http://ann:p%20w@") } });
    expect(shell.server.requests[0]?.headers.authorization).toBe(`Basic ${btoa("ann:p w")}`);
    expect(shell.server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("follows no redirect: neither key nor conversation goes to another host", async () => {
    const shell = await Shell.open();
    const elsewhere = await startModelServer();
    shell.server.otherwise({ kind: "raw", status: 307, body: "", headers: { location: `${elsewhere.baseURL}/chat/completions` } });
    const { result } = await shell.turn("One");
    expect(result).toMatchObject({ kind: "failed", message: expect.stringContaining("redirect") });
    expect(elsewhere.requests).toEqual([]);
  });
});
