import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, userMessage } from "@bough/session-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bough, call, connectTo } from "./client.js";

describe("bough mcp --install", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "bough-install-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  function install(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bough, "mcp", "--install", ...args], {
      encoding: "utf8",
      env: { PATH: "/usr/bin", HOME: home, XDG_CONFIG_HOME: join(home, ".config") },
      input: "",
    });
    return { status, stdout, stderr };
  }

  test("without a terminal it prints the entry and writes nothing", () => {
    const { status, stdout } = install("cursor");
    expect(status).toBe(0);
    expect(stdout).toContain('"bough": {');
    expect(stdout).toContain("--yes");
    expect(stdout).toContain("Keys, tokens and passwords are masked in the answers of this server (--with-secrets keeps them).");
    const unmasked = install("cursor", "--with-secrets").stdout;
    expect(unmasked).toContain('"--with-secrets"');
    expect(unmasked).toContain("can read the keys, tokens and passwords in all sessions of the store");
    expect(() => readFileSync(join(home, ".cursor/mcp.json"))).toThrow("ENOENT");
  });

  test("the entry names the store of BOUGH_STORE, because a client does not start the server with it", () => {
    const path = join(home, "mine.db");
    const { stdout } = spawnSync(process.execPath, [bough, "mcp", "--install", "cursor"], {
      encoding: "utf8",
      env: { PATH: "/usr/bin", HOME: home, BOUGH_STORE: path },
      input: "",
    });
    expect(stdout).toContain(`"--store",\n          ${JSON.stringify(path)}`);
    expect(install("cursor").stdout).not.toContain("--store");
  });

  test("the entry that is written starts a server", async () => {
    const path = join(home, "sessions.db");
    const store = await openStore({ path });
    await (await store.createSession({ id: "tabs" })).append(userMessage("hello"));
    await store.close();
    expect(install("cursor", "--yes", "--store", path).status).toBe(0);
    const { mcpServers } = JSON.parse(readFileSync(join(home, ".cursor/mcp.json"), "utf8")) as {
      mcpServers: { bough: { command: string; args: string[] } };
    };
    const client = await connectTo(mcpServers.bough, home);
    expect(await call(client, "list_sessions")).toContain("tabs");
    await client.close();
  });

  test("a JSON config keeps its comments, its other servers, its permissions and its symbolic link", () => {
    mkdirSync(join(home, "dotfiles"));
    const real = join(home, "dotfiles/claude.json");
    writeFileSync(real, '{\n  // mine\n  "mcpServers": { "other": { "command": "x" } },\n  "oauth": "secret"\n}\n', { mode: 0o600 });
    symlinkSync(real, join(home, ".claude.json"));
    expect(install("claude", "--yes").status).toBe(0);
    const text = readFileSync(real, "utf8");
    expect(text).toContain("// mine");
    expect(JSON.parse(text.replace("// mine", ""))).toMatchObject({ mcpServers: { other: { command: "x" } }, oauth: "secret" });
    expect(text).toContain('"bough"');
    expect(install("claude", "--yes").stdout).toContain("has this server already");
    expect(readFileSync(real, "utf8")).toBe(text);
    expect(spawnSync("stat", ["-c", "%a %F", real, join(home, ".claude.json")], { encoding: "utf8" }).stdout).toBe(
      "600 regular file\n777 symbolic link\n",
    );
  });

  test("a TOML config gets the entry at its end", () => {
    mkdirSync(join(home, ".codex"));
    const file = join(home, ".codex/config.toml");
    writeFileSync(file, '# mine\nmodel = "gpt"\n');
    expect(install("codex", "--yes").status).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/^# mine\nmodel = "gpt"\n\n\[mcp_servers\.bough\]\ncommand = /);
    expect(install("codex", "--yes").stdout).toContain("has this server already");
  });

  test.each([
    ["a byte order mark, tabs", '\uFEFF{\n\t"a": 1\n}\n', '\uFEFF{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"bough": {\n'],
    ["line breaks of Windows", '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "bough": {\r\n'],
  ])("a JSON config keeps %s", (_what, text, after) => {
    mkdirSync(join(home, ".cursor"));
    writeFileSync(join(home, ".cursor/mcp.json"), text);
    expect(install("cursor", "--yes").status).toBe(0);
    expect(readFileSync(join(home, ".cursor/mcp.json"), "utf8").startsWith(after)).toBe(true);
    expect(install("cursor", "--yes").stdout).toContain("has this server already");
  });

  test("a TOML config keeps the line breaks of Windows", () => {
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex/config.toml"), 'model = "x"\r\n');
    expect(install("codex", "--yes").status).toBe(0);
    expect(readFileSync(join(home, ".codex/config.toml"), "utf8").replaceAll("\r\n", "")).not.toContain("\n");
  });

  test.each([
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": null }'],
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": [] }'],
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": {}, "mcpServers": {} }'],
    ["codex", ".codex/config.toml", 'mcp_servers = { other = { command = "x" } }'],
    ["codex", ".codex/config.toml", 'mcp_servers = { bough = { command = "x" } }'],
    ["codex", ".codex/config.toml", "[[mcp_servers]]"],
  ])("a config of %s, %s, that cannot take the entry stays as it is: %s", (client, name, text) => {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), text);
    const { status, stderr } = install(client, "--yes");
    expect(status).toBe(8);
    expect(stderr).toMatch(/^bough: .* was not changed: .*by hand\. \(CLIENT_CONFIG\)\n$/);
    expect(readFileSync(join(home, name), "utf8")).toBe(text);
  });

  test.each([
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": '],
    ["codex", ".codex/config.toml", "model = "],
  ])("a damaged config of %s is named and not changed", (client, name, text) => {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), text);
    const { status, stderr } = install(client, "--yes");
    expect(status).toBe(8);
    expect(stderr).toContain(`${name} is damaged`);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
    expect(readFileSync(join(home, name), "utf8")).toBe(text);
  });

  test("an unknown client is answered with those there are", () => {
    const { status, stderr } = install("netscape");
    expect(status).toBe(2);
    expect(stderr).toContain("Choose from claude, claude-desktop, codex, cursor, gemini, opencode, vscode.");
  });
});
