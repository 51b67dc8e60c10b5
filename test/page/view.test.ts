import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openStore, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPage, useBrowser } from "./browser.js";
import { BOUGH, Home, SAMPLE } from "./home.js";
import { ask, view } from "./viewer.js";

const browser = useBrowser();
const home = new Home();
const secrets = new Home();

beforeAll(() => {
  home.bough("import", SAMPLE);
});

describe("bough view", () => {
  test("masks in the list and in the title of a page what it masks in the text", async () => {
    const store = await openStore({ path: secrets.store });
    const session = await store.createSession({ id: "untitled" });
    await session.append(userMessage("my config:\n  db_password: hunter2Xyz9\n  host: x"));
    const titled = await store.createSession({ id: "titled", title: "Log in with swordfish9" });
    await titled.append(userMessage('{"password": "swordfish9"}'));
    await store.close();
    const { address } = await view(home, ["--store", secrets.store]);
    for (const path of ["", "untitled", "titled"]) {
      const { status, body } = await ask(`${address}${path}`);
      expect(status).toBe(200);
      expect(body).not.toMatch(/hunter2Xyz9|swordfish9/);
      expect(body).toContain("[password 1]");
    }
  });

  test("lists the sessions, and shows one", async () => {
    const { address } = await view(home);
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
    const { page } = await openPage(browser(), address, { followed: true });
    await page.getByRole("link", { name: "Tabs in the lexer" }).click();
    await page.getByRole("heading", { level: 1, name: "Tabs in the lexer" }).waitFor();
  });

  test("with a session shows that one only", async () => {
    const { address } = await view(home, ["demo-lexer-tabs"]);
    expect((await ask(address)).body).toContain("<h1>Tabs in the lexer</h1>");
    expect((await ask(`${address}another`)).status).toBe(404);
  });

  test("answers only who knows the address, and only under its own name", async () => {
    const { address } = await view(home);
    const { origin, host, port } = new URL(address);
    expect((await ask(origin)).status).toBe(403);
    expect((await ask(`${origin}/${"A".repeat(32)}/`)).status).toBe(403);
    expect((await ask(`${address}no-such-session`)).status).toBe(404);
    expect((await ask(`${address}%E0%A4%A`)).status).toBe(404);
    expect((await ask(address, { headers: { host: `evil.example:${port}` } })).status).toBe(403);
    expect((await ask(address, { headers: { host: `${host}.evil.example` } })).status).toBe(403);
    expect((await ask(address, { headers: { host: `localhost:${port}` } })).status).toBe(200);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) expect((await ask(address, { method })).status).toBe(405);
  });

  test("forbids the browser to keep, embed, send on or mix what it shows", async () => {
    const { address } = await view(home, ["demo-lexer-tabs"]);
    expect((await ask(address, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const { headers } = await ask(address, { headers: { origin: new URL(address).origin } });
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": expect.stringMatching(/^default-src 'none'; script-src 'sha256-.*frame-ancestors 'none'$/),
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
  });

  test("ends on Ctrl+C with 0", async () => {
    const { child, address } = await view(home);
    await ask(address);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
    await expect(ask(address)).rejects.toThrow("ECONNREFUSED");
  });

  test("ends on Ctrl+C with 0 while a page is open, which has a stream of events", async () => {
    const { child, address } = await view(home);
    const page = await browser().newPage();
    await page.goto(`${address}demo-lexer-tabs`);
    await page.locator('.live[data-state="on"]').waitFor();
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
    await page.close();
  });

  test("a port that is taken is one line", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const child = spawn(process.execPath, [BOUGH, "view", "--no-open", "--port", String(port)], { env: home.env, stdio: "pipe" });
    let said = "";
    child.stderr.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
    expect(await once(child, "close")).toEqual([5, null]);
    expect(said).toBe(`bough: Port ${port} is in use. Name another one with --port, or omit it. (PORT_REFUSED)\n`);
  });

  test("opens the browser at an address that works once, so that a list of processes does not tell the other one", async () => {
    const opened = home.path("opened");
    writeFileSync(home.path("browser"), `#!/bin/sh\nprintf %s "$1" > "${opened}.part"; mv "${opened}.part" "${opened}"\n`);
    chmodSync(home.path("browser"), 0o755);
    const seen = new Promise<void>((resolve) => {
      const watcher = watch(home.folder, () => existsSync(opened) && resolve());
      onTestFinished(() => watcher.close());
    });
    const { address } = await view(home, ["demo-lexer-tabs", "--open"], { BROWSER: home.path("browser") });
    await seen;
    const visit = readFileSync(opened, "utf8");
    expect(visit).not.toContain(new URL(address).pathname.slice(1, -1));
    const { status, headers } = await ask(visit);
    expect([status, new URL(String(headers["location"]), visit).href]).toEqual([303, address]);
    expect((await ask(visit)).status).toBe(403);
  });
});
