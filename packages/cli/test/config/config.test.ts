import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readSettings } from "@bough/compaction";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig, saveConfig } from "../../src/config/config-file.js";
import { resolveConfigPath } from "../../src/config/config-path.js";
import { PRESET_NAMES } from "../../src/config/presets.js";
import { configJsonSchema } from "../../src/config/schema.js";
import { ConfigError } from "../../src/errors.js";

const CONFIG_PAGE = readFileSync(new URL("../../../../docs/config.md", import.meta.url), "utf8");

function home(): { readonly home: string; readonly env: Record<string, string>; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "bough-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const io = { home: folder, env: {} };
  return { ...io, path: resolveConfigPath(io) };
}

function written(text: string) {
  const io = home();
  mkdirSync(dirname(io.path), { recursive: true });
  writeFileSync(io.path, text);
  return io;
}

async function messageFor(text: string): Promise<string> {
  const io = written(text);
  const error: unknown = await loadConfig(io).catch((caught: unknown) => caught);
  if (!(error instanceof ConfigError)) throw new TypeError("the config was accepted");
  return error.message.replace(io.path, "FILE");
}

describe("the path of the config file", () => {
  test("is bough/config.json in ~/.config", () => {
    expect(resolveConfigPath({ env: {}, home: "/home/ann" })).toBe("/home/ann/.config/bough/config.json");
  });

  test("is in XDG_CONFIG_HOME if that is an absolute path", () => {
    expect(resolveConfigPath({ env: { XDG_CONFIG_HOME: "/etc/ann" }, home: "/home/ann" })).toBe("/etc/ann/bough/config.json");
    expect(resolveConfigPath({ env: { XDG_CONFIG_HOME: "etc" }, home: "/home/ann" })).toBe("/home/ann/.config/bough/config.json");
  });
});

describe("without a home directory", () => {
  test("there are no settings, and none can be saved", async () => {
    const nowhere = { env: {}, home: "" };
    expect(await loadConfig(nowhere)).toEqual({});
    await expect(saveConfig(nowhere, { tools: { bash: "allow" } })).rejects.toThrow(/HOME/);
  });
});

describe("reading the config", () => {
  test("returns no settings if the file is missing or empty", async () => {
    expect(await loadConfig(home())).toEqual({});
    expect(await loadConfig(written("\n"))).toEqual({});
  });

  test("accepts the example of docs/config.md", async () => {
    expect(await loadConfig(written(/```json\n([\s\S]*?)```/.exec(CONFIG_PAGE)?.[1] ?? ""))).toMatchObject({
      model: "qwen3-coder",
      tools: { read: "allow", edit: "ask", bash: "ask" },
      keys: { navigator: { fold: ["h", "left"] } },
    });
  });

  test("accepts every setting of the library in the group compaction, and adds no defaults to it", async () => {
    const text = JSON.stringify({ compaction: readSettings("vscode") });
    expect((await loadConfig(written(text))).compaction).toEqual(readSettings("vscode"));
    const some = { enabled: false, keep: { recentTokens: 30_000 }, perModel: { "p/m": { threshold: 0.5 } } };
    expect((await loadConfig(written(JSON.stringify({ compaction: some })))).compaction).toEqual(some);
  });

  test("turns a single key into a list", async () => {
    expect((await loadConfig(written('\uFEFF{"keys":{"shell":{"quit":"ctrl+q"}}}'))).keys).toEqual({ shell: { quit: ["ctrl+q"] } });
  });

  test.each([
    ['{"modle": "x"}', "FILE: modle is not a setting; did you mean model?"],
    ['{"tools": {"bahs": "ask"}}', "FILE: tools.bahs is not a setting; did you mean tools.bash?"],
    ['{"base-URL": "http://localhost"}', "FILE: base-URL is not a setting; did you mean baseUrl?"],
    ['{"navigator": {"colors": 1}}', "FILE: navigator.colors is not a setting; see docs/config.md for the settings."],
    ['{"tools": {"bash": "yes"}}', 'FILE: tools.bash must be "off", "ask" or "allow".'],
    ['{"window": "large"}', "FILE: window must be a number."],
    ['{"window": 5}', "FILE: window must be at least 1000."],
    ['{"window": 5000.5}', "FILE: window must be an integer."],
    ['{"model": ""}', "FILE: model must not be empty."],
    ['{"navigator": {"preview": 1}}', "FILE: navigator.preview must be true or false."],
    ['{"keys": {"navigator": {"fold": 1}}}', 'FILE: keys.navigator.fold must be a key or a list of keys, such as "ctrl+d".'],
    ['{"baseUrl": "localhost:11434"}', "FILE: baseUrl must begin with http:// or https://."],
    ['{"compaction": false}', "FILE: compaction must be an object."],
    ['{"compaction": {"enabled": "no"}}', "FILE: compaction.enabled must be true or false."],
    ['{"compaction": {"keep": {"recentTokens": -1}}}', "FILE: compaction.keep.recentTokens must be at least 0."],
    ['{"compaction": {"trigger": {"headroomShare": 2}}}', "FILE: compaction.trigger.headroomShare must be at most 1."],
    [
      '{"compaction": {"trigger": {"threshold": 50}}}',
      "FILE: compaction.trigger.threshold must be a share of the window (above 0, at most 1) or tokens (100 or more).",
    ],
    ['{"compaction": {"keep": {"by": "bytes"}}}', 'FILE: compaction.keep.by must be "tokens", "share", "messages", "rounds" or "nothing".'],
    ['{"compaction": {"recentTokens": 1}}', "FILE: compaction.recentTokens is not a setting; did you mean compaction.keep.recentTokens?"],
    [
      '{"compaction": {"keep": {"recentTokns": 1}}}',
      "FILE: compaction.keep.recentTokns is not a setting; did you mean compaction.keep.recentTokens?",
    ],
    ['{"model": 1, "window": ""}', "FILE: model must be a string (and 1 more)."],
    ["[]", "FILE: the file must be an object."],
    ['{\n"model": "a"\n"window": 1}', "FILE is not valid JSON (line 3). Correct it, or delete the file."],
  ])("rejects %s in one line that names the setting", async (text, says) => {
    expect(await messageFor(text)).toBe(says);
  });

  test.each(['{"apiKeyEnv": "sk-secret-1"}', '{"baseUrl": "https://ann:sk-secret-1@example.org"}', '{"apiKeyEnv": sk-secret-1}'])(
    "never repeats a value that may be an API key: %s",
    async (text) => {
      expect(await messageFor(text)).not.toContain("sk-secret");
    },
  );

  test("reports that a file cannot be read", async () => {
    const io = home();
    mkdirSync(io.path, { recursive: true });
    await expect(loadConfig(io)).rejects.toThrow(/cannot be read \(EISDIR\)/);
  });
});

describe("changing the config", () => {
  test("creates the file with mode 600, and leaves no temporary file", async () => {
    const io = home();
    expect(await saveConfig(io, { model: "m" })).toEqual({ model: "m" });
    expect(statSync(io.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(io.path))).toEqual(["config.json"]);
    expect(await loadConfig(io)).toEqual({ model: "m" });
  });

  test("keeps every other setting, also in groups", async () => {
    const io = written('{"keys": {"shell": {"quit": "ctrl+q"}}, "tools": {"read": "allow", "bash": "ask"}}');
    await saveConfig(io, { tools: { bash: "allow" }, navigator: { preview: true } });
    expect(JSON.parse(readFileSync(io.path, "utf8"))).toEqual({
      keys: { shell: { quit: "ctrl+q" } },
      tools: { read: "allow", bash: "allow" },
      navigator: { preview: true },
    });
  });

  test("removes a setting whose value is undefined", async () => {
    const io = written('{"model": "m", "window": 8000}');
    expect(await saveConfig(io, { model: undefined })).toEqual({ window: 8000 });
  });

  test("does not change an invalid file, and writes no invalid setting", async () => {
    const io = written('{"modle": "x"}');
    await expect(saveConfig(io, { window: 9000 })).rejects.toThrow("modle is not a setting");
    expect(readFileSync(io.path, "utf8")).toBe('{"modle": "x"}');
    await expect(saveConfig(written("{}"), { window: 1 })).rejects.toThrow("window must be at least 1000");
  });

  test("follows a link and leaves it a link", async () => {
    const io = home();
    const real = join(io.home, "dotfiles.json");
    writeFileSync(real, "{}");
    mkdirSync(dirname(io.path), { recursive: true });
    symlinkSync(real, io.path);
    await saveConfig(io, { model: "m" });
    expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ model: "m" });
  });

  test("reports a folder that is a file", async () => {
    const io = home();
    writeFileSync(join(io.home, ".config"), "");
    chmodSync(join(io.home, ".config"), 0o600);
    await expect(saveConfig(io, { model: "m" })).rejects.toThrow(ConfigError);
  });
});

describe("the schema", () => {
  test("lists every preset", () => {
    expect(configJsonSchema()).toMatchObject({ properties: { preset: { enum: PRESET_NAMES } } });
  });
});
