import { expect, test } from "vitest";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { DrivenShell } from "./driven.js";

/** The printed output of a command. */
async function ran(shell: DrivenShell, line: string): Promise<string> {
  const from = shell.printed.length;
  await shell.enter(line).until(() => shell.model.running === 0);
  return shell.printed.slice(from).join("\n").replace(/\s+/g, " ");
}

test("/settings names what runs and where it comes from, as /context does", async () => {
  const shell = await DrivenShell.open({
    hasModel: true,
    config: { preset: "pi", tools: { bash: "ask" } },
    size: { columns: 200, rows: 24 },
  });
  const printed = await ran(shell, "/settings");
  expect(printed).toContain(`config file: ${shell.folder}/config.json`);
  expect(printed).toContain(" model test-model (--model)");
  expect(printed).toContain(` address ${shell.server.baseURL} (--base-url)`);
  expect(printed).toContain(" key none is sent");
  expect(printed).toContain(" window 200,000 tokens (assumed: that of test-model is not known here)");
  expect(printed).toContain(" compaction pi (config file)");
  expect(printed).toContain(" tools bash ask (config file)");
  expect(await ran(shell, "/context")).toContain("(window: assumed: that of test-model is not known here)");
  expect(await ran(shell, "/context")).not.toContain("no model");
});

test("/settings after /model names the new model", async () => {
  const shell = await DrivenShell.open({ hasModel: true, size: { columns: 200, rows: 24 } });
  await ran(shell, "/model claude-sonnet-4-5");
  const printed = await ran(shell, "/settings");
  expect(printed).toMatch(/ model claude-sonnet-4-5 /);
  expect(printed).toContain("(table of models)");
});

test("/settings of a notebook says that no model is named", async () => {
  const printed = await ran(await DrivenShell.open(), "/settings");
  expect(printed).toContain("none (notebook) (no model is named)");
  expect(printed).toContain("assumed: the session has no model");
});

test.each([
  [{ BOUGH_MODEL: "m", BOUGH_BASE_URL: "http://127.0.0.1:1", BOUGH_API_KEY: "k" }, {}, ["BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"]],
  [{ MINE: "k" }, { model: "m", baseUrl: "http://127.0.0.1:1", apiKeyEnv: "MINE" }, ["config file", "config file", "MINE"]],
  [{ ANTHROPIC_API_KEY: "k" }, { model: "claude-x" }, ["config file", "default of the provider", "ANTHROPIC_API_KEY"]],
])("the origins of a model, its address and its key: %j, %j", (env, config, [name, address, key]) => {
  const origin = chooseChatModel(env, config, {})?.origin;
  expect(origin).toMatchObject({ name, address, key });
});

test("the address is told without its password", () => {
  const model = chooseChatModel({}, {}, { model: "m", baseUrl: "http://me:secret@127.0.0.1:1/v1?key=secret" });
  expect(model?.address).toBe("http://127.0.0.1:1/v1");
});
