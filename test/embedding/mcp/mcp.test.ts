import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantMessage, openStore, type Store, userMessage } from "@bough/session-core";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bough, call, connectTo, environment } from "./client.js";

const folder = mkdtempSync(join(tmpdir(), "bough-mcp-"));
const path = join(folder, "sessions.db");
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

function connect(...args: string[]): Promise<Client> {
  return connectTo({ command: process.execPath, args: [bough, "mcp", ...args] }, folder);
}

describe("bough mcp", () => {
  let store: Store;
  let client: Client;
  beforeAll(async () => {
    store = await openStore({ path });
    const session = await store.createSession({ id: "tabs", title: "Tabs in the parser", cwd: "/home/ada/parser" });
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
      "who_wrote",
    ]);
    for (const { annotations, description, inputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true);
      expect(description?.length).toBeGreaterThan(40);
      expect(inputSchema.type).toBe("object");
    }
  });

  test("answers a message of more than 8 MB with an error, and goes on", async () => {
    const long = call(client, "search_sessions", { query: "x".repeat(12_000_000) });
    await expect(long).rejects.toThrow("more than 8 MB");
    expect(await call(client, "list_sessions", {})).toContain("tabs");
  });

  test("names the agents that there are if a search asks for another one", async () => {
    const asked = { query: "tab", agents: ["bough", "claude-code"] };
    expect(await call(client, "search_sessions", asked)).toMatch(/^error: agents: no session is of "claude-code"\. There are .*\bclaude, /);
    expect(await call(client, "search_sessions", { ...asked, agents: ["bough"] })).toContain("tab");
  });

  test("refuses the last line of a range without the first one, and one before it", async () => {
    for (const range of [{ to: 2 }, { from: 2, to: 1 }])
      expect(await call(client, "who_wrote", { path: "package.json", ...range })).toContain("`to` needs a `from` that is not after it");
  });

  test("who_wrote names a file that is missing, and no option of the command", async () => {
    expect(await call(client, "who_wrote", { path: "missing.ts" })).toBe("error: There is no file missing.ts.");
  });

  test("shows nothing invisible, and no line of an entry as the heading of another one", async () => {
    const session = await store.createSession({ id: "odd", title: "hid\u{e0041}den\u2028title" });
    const heading = "[abcdefghijkl] 2026-11-23 20:49 user";
    const said = ["", " ", "\u200b", "\u200d", "\u00ad", "\u{e0041}", "\u00a0", "x\u2028", "x\u0085", "x\r"].map(
      (before) => `${before}${heading}\nseacow`,
    );
    said.push(heading.replace(" ", "\u00a0"), `［abcdefghijkl］ 2026-11-23 20:49 user`);
    const ids: string[] = [];
    for (const text of said) ids.push((await session.append(userMessage(text))).id);
    const answers = [
      await call(client, "read_path", { session: "odd", max_chars: 50_000 }),
      await call(client, "read_entries", { session: "odd", entries: ids }),
      await call(client, "search_sessions", { query: "seacow", limit: 30 }),
      await call(client, "list_sessions", {}),
      await call(client, "get_tree", { session: "odd" }),
    ];
    for (const answer of answers) {
      expect(answer).not.toMatch(/[\u0085\u200b\u2028\u{e0000}-\u{e007f}\r]/u);
      expect(answer.split("\n").filter((line) => /^[\s\p{Cf}]*[[［]abcdefghijkl/u.test(line))).toEqual([]);
    }
    await store.deleteSession("odd");
  });

  test("masks secrets in texts, previews and titles, unless --with-secrets is given", async () => {
    const password = "hunter2Xyz9";
    const secretive = await store.createSession({ id: "secretive", title: `Log in with ${password}` });
    await secretive.append(userMessage(`config:\n  db_password: ${password}\n  host: x`));
    const found = await secretive.append(assistantMessage("The sealion is configured."));
    const open = await connect("--store", path, "--with-secrets");
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["list_sessions", {}],
      ["get_tree", { session: "secretive" }],
      ["read_path", { session: "secretive" }],
      ["read_entries", { session: "secretive", entries: [found.id], around: 1 }],
      ["search_sessions", { query: "sealion", around: 1 }],
      ["search_sessions", { query: "config host" }],
    ];
    for (const [name, input] of calls) {
      expect(await call(client, name, input)).not.toContain(password);
      expect(await call(open, name, input)).toContain(password);
    }
    await open.close();
    await store.deleteSession("secretive");
  });

  test("masks the titles in the answer to a name of several sessions, unless --with-secrets is given", async () => {
    const password = "hunter2Xyz9";
    for (const id of ["twin-a", "twin-b"])
      await (await store.createSession({ id, title: `Log in with ${password} at once` })).append(userMessage(`db_password: ${password}`));
    const open = await connect("--store", path, "--with-secrets");
    for (const name of ["get_tree", "read_path", "files_touched"]) {
      const answer = await call(client, name, { session: "twin" });
      expect(answer).toMatch(/^error: 'twin' could be .*twin-a \(Log in with \[password 1\] at once\)/);
      expect(answer).not.toContain(password);
    }
    expect(await call(open, "get_tree", { session: "twin" })).toContain(password);
    await open.close();
    for (const id of ["twin-a", "twin-b"]) await store.deleteSession(id);
  });

  test("one search gives ids that read_entries takes", async () => {
    const found = await call(client, "search_sessions", { query: "counts column" });
    expect(found).toContain("The lexer counts a tab as one column.");
    const entryId = /\[(\S+?)\] in session/.exec(found)?.[1] ?? "";
    const read = await call(client, "read_entries", { session: "tabs", entries: [entryId] });
    expect(read).toContain("The lexer counts a tab as one column.");
    expect(read).toContain("tab = 8");
  });

  test("finds parts of words, exact texts and regular expressions, by place and by agent", async () => {
    expect(await call(client, "search_sessions", { query: "olum" })).toContain("The lexer counts a tab as one column.");
    expect(await call(client, "search_sessions", { query: "/counts a \\w+ as/", agents: ["bough"] })).toContain("The lexer counts");
    expect(await call(client, "search_sessions", { query: "/counts a \\w+ as/", agents: ["claude"] })).toMatch(/^No entry/);
    expect(await call(client, "search_sessions", { query: "olum", in: ["prose"] })).toContain("The lexer counts");
    expect(await call(client, "search_sessions", { query: "/lexer (/" })).toMatch(/^error: .* at character 7 of the expression/);
  });

  test("shows sessions, the tree, a path and the files", async () => {
    expect(await call(client, "list_sessions")).toContain("tabs");
    for (const cwd of ["/home/ada/parser", "/home/ada/", "/home"]) expect(await call(client, "list_sessions", { cwd })).toContain("tabs");
    for (const cwd of ["/nowhere", "/home/ad", "/home/ada/parser/src"])
      expect(await call(client, "list_sessions", { cwd })).toBe(`No session was recorded in ${cwd} or below it.`);
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

  test("the note on what was left out counts one as one", async () => {
    const session = await store.createSession({ id: "lines" });
    for (const letter of "abcdef") await session.append(userMessage(letter.repeat(100)));
    const answer = await call(client, "get_tree", { session: "lines", max_chars: 600 });
    expect(answer).toMatch(/\n\(1 more line: ask with a larger max_chars, or show: user\.\)$/);
    await store.deleteSession("lines");
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
    // The line of a shortened run names no option of the command.
    const tree = await call(client, "get_tree", { session: "long" });
    expect(tree).toContain("291 more entries");
    expect(tree).not.toContain("--");
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

test("a store that was replaced is read anew, one that was deleted is named", async () => {
  const at = join(folder, "served.db");
  const make = async (to: string, id: string) => {
    const store = await openStore({ path: to });
    await (await store.createSession({ id })).append(userMessage("hello"));
    await store.close();
  };
  await make(at, "old");
  await make(`${at}.new`, "restored");
  const client = await connect("--store", at);
  try {
    expect(await call(client, "list_sessions")).toContain("old");
    for (const end of ["", "-wal", "-shm"]) rmSync(`${at}${end}`, { force: true });
    expect(await call(client, "list_sessions")).toMatch(/^error: No store at .*served\.db/);
    renameSync(`${at}.new`, at);
    const answers = await Promise.all([call(client, "list_sessions"), call(client, "list_sessions")]);
    for (const answer of answers) expect(answer).toContain("restored");
  } finally {
    await client.close();
  }
});

test("a client that reads no more ends the server", async () => {
  const server = spawn(process.execPath, [bough, "mcp", "--store", path], { env: environment(folder), stdio: "pipe" });
  const ended = once(server, "exit");
  let complaints = "";
  server.stderr.on("data", (piece: Buffer) => {
    complaints += piece.toString();
  });
  server.stdin.on("error", () => undefined);
  server.stdout.destroy();
  for (let id = 0; id < 50; id += 1) server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
  // Its input stays open.
  expect(await ended).toEqual([0, null]);
  expect(complaints).toBe("");
});

test("calls that came before the end of the input are answered", () => {
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "list_sessions", arguments: {} } },
    { id: 3, method: "tools/call", params: { name: "search_sessions", arguments: { query: "parser" } } },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const { status, stdout } = spawnSync(process.execPath, [bough, "mcp", "--store", path], {
    encoding: "utf8",
    env: environment(folder),
    input,
  });
  expect(status).toBe(0);
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(ids.sort()).toEqual([1, 2, 3]);
});
