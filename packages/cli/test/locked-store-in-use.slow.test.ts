import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { appendFileSync, readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { BOUGH, done, failed, KEY, line, OTHER, Place, SECRET, said } from "./locked-place.js";

/** Each change of the key, and the keys of the store before and after it. */
const CHANGES = [
  ["lock", undefined, { BOUGH_NEW_KEY: OTHER }, OTHER],
  ["rekey", KEY, { BOUGH_KEY: KEY, BOUGH_NEW_KEY: OTHER }, OTHER],
  ["unlock", KEY, { BOUGH_KEY: KEY }, undefined],
] as const;

const keyed = (key: string | undefined): Record<string, string> => (key === undefined ? {} : { BOUGH_KEY: key });

function start(at: Place, args: readonly string[], key: string | undefined): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [BOUGH, ...args], { env: at.env({ ...keyed(key), BROWSER: "true" }), cwd: at.home });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function end(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  return ended;
}

describe.each(CHANGES)("bough %s, while another process has the store open, is refused in one line:", (command, before, keys, after) => {
  test("a sync that watches goes on and loses nothing; once it has ended, the command works", async () => {
    const at = new Place();
    const watch = start(at, ["sync", "--watch"], before);
    await said(watch.stdout, /\S/);
    for (const [id, parent] of ["ab", "bc", "cd"].map((pair) => [pair[1] ?? "", pair[0] ?? ""] as const)) {
      expect(at.run([command], keys)).toEqual(failed(6, "STORE_IN_USE"));
      appendFileSync(at.transcript, `${line(id, parent, `prompt ${id} ${SECRET}`)}\n`);
      await said(watch.stdout, /1 entry|\+1/);
    }
    expect(await end(watch)).toBe(0);
    expect(at.run([command], keys)).toEqual(done("locked"));
    const told = at.run(["log", "--json"], keyed(after));
    for (const id of "bcd") expect(told.stdout).toContain(`prompt ${id}`);
    expect(at.run(["verify"], keyed(after))).toEqual(done("No integrity violations"));
    expect(readdirSync(at.stores)).toEqual(["sessions.db"]);
  });

  test("a page and an MCP server go on answering, and refuse nobody else", async () => {
    const at = new Place();
    at.run(["sync"], keyed(before));
    const view = start(at, ["view", "--port", "0"], before);
    const address = (await said(view.stdout, /http:\S+/)).match(/http:\S+/)?.[0] ?? "";
    const mcp = start(at, ["mcp"], before);
    const search = () => {
      const params = { name: "search_sessions", arguments: { query: SECRET } };
      mcp.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params })}\n`);
      return said(mcp.stdout, /"id":7/);
    };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    mcp.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    expect(await search()).toContain(SECRET);
    expect(at.run([command], keys)).toEqual(failed(6, "STORE_IN_USE"));
    expect(await search()).toContain(SECRET);
    expect(await (await fetch(address)).text()).toContain("<html");
    await end(view);
    // The server has the store open still.
    expect(at.run([command], keys)).toEqual(failed(6, "STORE_IN_USE"));
    const ended = new Promise((resolve) => mcp.once("close", resolve));
    mcp.stdin.end();
    await ended;
    expect(at.run([command], keys)).toEqual(done("locked"));
  });
});
