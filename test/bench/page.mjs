import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { findChromium } from "../../.ci/browser.mjs";
import { median } from "./measure.mjs";
import { Tabs } from "./tabs.mjs";

export const title = "page";

const BOUGH = fileURLToPath(new URL("../../packages/cli/dist/bough.js", import.meta.url));

/** The limits of the issue: first paint and opening in milliseconds, memory in MB. */
const [FIRST_PAINT, TAB_MEMORY, FILE_OPENS, NEW_ENTRY] = [1000, 300, 2000, 1500];

/** The page of `bough view` and the exported file in a real Chromium: first paint, memory of the tab, and how fast a new entry is there. */
export async function run(bench) {
  if (!existsSync(BOUGH)) return bench.report.skipped("page of a session", "command not built");
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: findChromium(), args });
  try {
    for (const size of bench.sizes.filter((one) => one >= 10_000)) await served(bench, browser, size);
    await exported(bench, browser, 10_000);
  } finally {
    await browser.close();
  }
}

async function served({ report, stores, rounds }, browser, size) {
  const made = stores.copy(await stores.ofSize(size));
  const runs = [];
  const bare = [];
  for (let round = 0; round < rounds(5); round += 1) {
    runs.push(await viewed(browser, made));
    bare.push(await bareServed(browser));
  }
  const [paint, ready, news] = ["paintMs", "readyMs", "newMs"].map((name) => median(runs.map((one) => one[name])));
  report.absolute("page of bough view, first paint", size, paint, FIRST_PAINT, {
    baseline: median(bare),
    note: "of a server that has just started; baseline: one that answers with a line",
  });
  report.absolute("page of bough view, first entries", size, ready, null);
  report.absolute("page of bough view, a new entry is there", size, news, NEW_ENTRY, { note: "SQLite is asked every 500 ms" });
  const memory = Math.max(...runs.map(({ megabytes }) => megabytes));
  if (memory > 0)
    report.absolute("page of bough view, memory of the tab", size, memory, TAB_MEMORY, { unit: "MB", note: "after a walk through it" });
}

/** Opens a session in a new server and a new tab, goes through it, and appends an entry at its end. */
async function viewed(browser, { path, sessionId }) {
  const child = spawn(process.execPath, [BOUGH, "view", sessionId, "--no-open", "--store", path], { stdio: ["ignore", "pipe", "ignore"] });
  const [printed] = await once(child.stdout, "data");
  const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1280, height: 800 } });
  try {
    const known = new Set(renderers());
    const page = await context.newPage();
    await page.goto(printed.toString().trim(), { waitUntil: "commit" });
    await page.locator("#path article").first().waitFor();
    const readyMs = await page.evaluate("performance.now()");
    await page.waitForLoadState();
    const paintMs = await firstPaint(page);
    for (const share of [0.2, 0.5, 0.8]) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${share})`);
      await page.waitForFunction("document.elementFromPoint(innerWidth - 300, innerHeight / 2)?.closest('.chunk:not(.empty)') !== null");
    }
    await page.keyboard.press("G");
    await page.waitForFunction("document.activeElement?.localName === 'article'");
    const newMs = await timeOfNews(page, path, sessionId);
    const megabytes = Math.max(
      0,
      ...renderers()
        .filter((pid) => !known.has(pid))
        .map(residentMegabytes),
    );
    return { paintMs, readyMs, newMs, megabytes };
  } finally {
    await context.close();
    child.kill();
  }
}

const BARE_SERVER = `const server = require("node:http").createServer((_, answer) => answer.end("<!doctype html><title>Bare</title><p>A line")).listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port))`;

/** The first paint of a page of one line, of a server that has just started. */
async function bareServed(browser) {
  const child = spawn(process.execPath, ["-e", BARE_SERVER], { stdio: ["ignore", "pipe", "ignore"] });
  const [printed] = await once(child.stdout, "data");
  const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(printed.toString().trim());
    return await firstPaint(page);
  } finally {
    await context.close();
    child.kill();
  }
}

async function firstPaint(page) {
  await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
  return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime");
}

/** From the commit of an entry by another process to its article in the page, in milliseconds. */
async function timeOfNews(page, path, sessionId) {
  const { openStore, userMessage } = await import("@bough/session-core");
  const store = await openStore({ path });
  const session = await store.openSession(sessionId);
  const { id } = await session.append(userMessage("What is new?"));
  const start = performance.now();
  await page.locator(`[id="e=${id}"]`).waitFor({ state: "attached" });
  const took = performance.now() - start;
  await store.close();
  return took;
}

async function exported({ report, stores, rounds }, browser, size) {
  const { path, sessionId } = await stores.ofSize(size);
  const file = `${stores.path("page")}.html`;
  const { status, stderr } = spawnSync(process.execPath, [BOUGH, "export", sessionId, "--html", file, "--store", path], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`bough export ended with ${status}: ${stderr}`);
  const bare = `${stores.path("bare")}.html`;
  writeFileSync(bare, barePage(readFileSync(file, "utf8")));
  const tabs = await Tabs.of(browser);
  const [times, bareTimes] = [[], []];
  for (let round = 0; round < rounds(5); round += 1) {
    times.push(await tabs.timesOf(pathToFileURL(file).href));
    bareTimes.push(await tabs.timesOf(pathToFileURL(bare).href));
  }
  rmSync(file);
  rmSync(bare);
  const [ready, bareReady] = [times, bareTimes].map((all) => median(all.map(({ load }) => load)));
  const [paint, barePaint] = [times, bareTimes].map((all) => median(all.map((one) => one.paint)));
  const note = "scripts have run; baseline: its text as paragraphs";
  report.absolute("exported page, whole page ready", size, ready, FILE_OPENS, { baseline: bareReady, note });
  report.absolute("exported page, first paint", size, paint, FIRST_PAINT, { baseline: barePaint });
}

/** The text of a page as paragraphs of a document without style and scripts, which browsers skip as well while they are not on screen. */
function barePage(page) {
  const body = page.slice(page.indexOf("<body"), page.lastIndexOf("</footer>"));
  const paragraphs = body
    .replace(/<[^>]+>/g, "")
    .split(/\n{2,}/)
    .map((text) => `<p>${text}\n`);
  return `<!doctype html><meta charset="utf-8"><title>Bare</title><style>p { content-visibility: auto; contain-intrinsic-size: auto 5rem; }</style>${paragraphs.join("")}`;
}

/** The processes of tabs, on Linux. */
function renderers() {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && readProcess(name, "cmdline").includes("--type=renderer"));
}

function residentMegabytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readProcess(pid, "status"))?.[1] ?? 0) / 1024;
}

/** A file of a process; empty if it has ended. */
function readProcess(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
