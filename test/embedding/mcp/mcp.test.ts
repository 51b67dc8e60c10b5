import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantMessage, openStore, type Store, userMessage } from "@bough/session-core";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

const bough = join(import.meta.dirname, "../../../packages/cli/dist/bough.js");
const folder = mkdtempSync(join(tmpdir(), "bough-mcp-"));
const path = join(folder, "sessions.db");
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const env = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CACHE_HOME: folder };

async function connect(...args: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [bough, "mcp", ...args], env, stderr: "pipe" }));
  return client;
}

/** The text of an answer; for an error "error: " and its text. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  return isError === true ? `error: ${text}` : text;
}

describe("bough mcp", () => {
  let store: Store;
  let client: Client;
  beforeAll(async () => {
    store = await openStore({ path });
    const session = await store.createSession({ id: "tabs", title: "Tabs in the parser", cwd: "/work/parser" });
    const question = await session.append(userMessage("Why does the parser fail on tabs?"));
    const call = {
      type: "toolCall" as const,
      id: "c1",
      name: "edit",
      arguments: { path: "src/lexer.ts", oldText: "tab = 1", newText: "tab = 8" },
    };
    await session.append(assistantMessage([{ type: "text", text: "The lexer counts a tab as one column." }, call]));
    await session.append({
      type: "message",
      message: { role: "toolResult", toolCallId: "c1", toolName: "edit", content: "edited", isError: false },
    });
    await session.append({
      type: "message",
      message: { role: "bashExecution", command: "echo secretzebra", output: "secretzebra", excludeFromContext: true },
    });
    await session.moveLeaf(question.id);
    await session.append(assistantMessage("Another way: replace tabs \u001b[31mfirst\u001b[0m."));
    client = await connect("--store", path);
  });
  afterAll(async () => {
    await client.close();
    await store.close();
  });

  test("offers read-only tools whose schemas a client can read", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "search_sessions",
      "read_entries",
      "read_path",
      "list_sessions",
      "get_tree",
      "files_touched",
    ]);
    for (const { annotations, description, inputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true);
      expect(description?.length).toBeGreaterThan(40);
      expect(inputSchema.type).toBe("object");
    }
  });

  test("one search gives ids that read_entries takes", async () => {
    const found = await call(client, "search_sessions", { query: "counts column" });
    expect(found).toContain("The lexer counts a tab as one column.");
    const entryId = /\[(\S+?)\] in session/.exec(found)?.[1] ?? "";
    const read = await call(client, "read_entries", { session: "tabs", entries: [entryId] });
    expect(read).toContain("The lexer counts a tab as one column.");
    expect(read).toContain("tab = 8");
  });

  test("shows sessions, the tree, a path and the files", async () => {
    expect(await call(client, "list_sessions")).toContain("tabs");
    expect(await call(client, "list_sessions", { cwd: "/nowhere" })).toBe("No session was recorded in /nowhere.");
    const tree = await call(client, "get_tree", { session: "Tabs in" });
    expect(tree).toContain("tabs: 5 entries, 2 branches");
    expect(tree).toContain("← leaf");
    expect(await call(client, "read_path", { session: "tabs" })).toContain("Another way: replace tabs first.");
    const [, , result] = await (await store.openSession("tabs")).tree.outline();
    expect(await call(client, "files_touched", { session: "tabs", entry: result?.id ?? "" })).toMatch(
      /^src\/lexer\.ts {2}edit 1× {2}last in /,
    );
  });

  test("nothing that the user kept private leaves, by any tool", async () => {
    const rows = await (await store.openSession("tabs")).tree.outline();
    const hidden = rows.find(({ role }) => role === "bashExecution")?.id ?? "";
    const answers = await Promise.all([
      call(client, "search_sessions", { query: "secretzebra" }),
      call(client, "search_sessions", { query: "zebra*", include_private: true }),
      call(client, "search_sessions", { query: "secretzebrq" }),
      call(client, "search_sessions", { query: "edited", around: 3 }),
      call(client, "get_tree", { session: "tabs", show: "all" }),
      call(client, "read_entries", { session: "tabs", entries: [hidden] }),
      call(client, "read_path", { session: "tabs", entry: hidden }),
      call(client, "read_entries", { session: "tabs", entries: [hidden], grep: "zebra" }),
    ]);
    for (const answer of answers) expect(answer.replaceAll("secretzebrq", "")).not.toMatch(/secretzebra|echo/);
  });

  test("sees what a writer appends meanwhile", async () => {
    await (await store.openSession("tabs")).append(userMessage("freshly written giraffe"));
    expect(await call(client, "search_sessions", { query: "giraffe" })).toContain("freshly written giraffe");
  });

  test("invalid input, unknown names and unknown tools are one line, and the server goes on", async () => {
    expect(await call(client, "get_tree", {})).toMatch(/^error: session: .* Nothing was read\.$/);
    expect(await call(client, "get_tree", { session: "nothing" })).toBe(
      "error: No session nothing in this store. list_sessions lists them.",
    );
    expect(await call(client, "search_sessions", { qurey: "tabs" })).toBe(
      'error: There is no "qurey". Did you mean query? Nothing was read.',
    );
    expect(await call(client, "list_sessions", { everything: true })).toBe(
      'error: There is no "everything". There are cwd, include, limit, cursor. Nothing was read.',
    );
    expect(await call(client, "get_tree", { session: "tabs", max_chars: 1 })).toMatch(/^error: max_chars: /);
    expect(await call(client, "read_entries", { session: "tabs", entries: ["\u001b[2Jx"] })).not.toContain("\u001b");
    expect(await call(client, "delete_everything")).toMatch(/^error: There is no tool delete_everything\. There are search_sessions, /);
    expect(await call(client, "list_sessions")).toContain("tabs");
  });

  test("answers are cut to max_chars and say how to go on", async () => {
    const session = await store.createSession({ id: "long" });
    for (let at = 0; at < 300; at += 1) await session.append(userMessage(`${at} ${"word ".repeat(100)}`));
    for (const [name, args] of [
      ["get_tree", { session: "long", show: "all" }],
      ["read_path", { session: "long" }],
      ["search_sessions", { query: "word", session: "long", limit: 50 }],
    ] as const) {
      const answer = await call(client, name, { ...args, max_chars: 1000 });
      expect(answer.length).toBeLessThan(1400);
      expect(answer).toMatch(/more|max_chars|next \d/);
    }
  });
});

test("without a store each call says so, and works once there is one", async () => {
  const later = join(folder, "later.db");
  const client = await connect("--store", later);
  try {
    expect(await call(client, "list_sessions")).toMatch(/^error: .*later\.db/);
    const store = await openStore({ path: later });
    await (await store.createSession({ id: "first" })).append(userMessage("hello"));
    await store.close();
    expect(await call(client, "list_sessions")).toContain("first");
  } finally {
    await client.close();
  }
});

describe("bough mcp --install", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(folder, "home-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

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
    expect(() => readFileSync(join(home, ".cursor/mcp.json"))).toThrow("ENOENT");
  });

  test("the entry names the store of BOUGH_STORE, because a client does not start the server with it", () => {
    const { stdout } = spawnSync(process.execPath, [bough, "mcp", "--install", "cursor"], {
      encoding: "utf8",
      env: { PATH: "/usr/bin", HOME: home, BOUGH_STORE: path },
      input: "",
    });
    expect(stdout).toContain(`"--store",\n          ${JSON.stringify(path)}`);
    expect(install("cursor").stdout).not.toContain("--store");
  });

  test("the entry that is written starts a server", async () => {
    expect(install("cursor", "--yes", "--store", path).status).toBe(0);
    const { mcpServers } = JSON.parse(readFileSync(join(home, ".cursor/mcp.json"), "utf8")) as {
      mcpServers: { bough: { command: string; args: string[] } };
    };
    const client = new Client({ name: "test", version: "0" });
    await client.connect(new StdioClientTransport({ ...mcpServers.bough, env, stderr: "pipe" }));
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
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": '],
    ["codex", ".codex/config.toml", "model = "],
  ])("a damaged config of %s is named and not changed", (client, name, text) => {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), text);
    const { status, stderr } = install(client, "--yes");
    expect(status).toBe(67);
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
