// Writes the pictures of docs/page.md and docs/a-day.md: the exported page of the demo session, the list of sessions, and a session on a telephone
// while another process writes to it, in Chromium.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findChromium } from "./browser.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "test/package.json"))("playwright-core");
const { assistantMessage, openStore, userMessage } = await import(join(root, "packages/session-core/dist/index.js"));
const BOUGH = join(root, "packages/cli/dist/bough.js");
const SESSION = "demo-lexer-tabs";
const PHONE = { viewport: { width: 390, height: 720 }, deviceScaleFactor: 1.5, isMobile: true, hasTouch: true, reducedMotion: "reduce" };

const folder = mkdtempSync(join(tmpdir(), "bough-page-"));
const store = join(folder, "sessions.db");
const env = { ...process.env, HOME: folder, BOUGH_STORE: store, TZ: "UTC" };
const bough = (...args) => execFileSync(process.execPath, [BOUGH, ...args], { env, stdio: "ignore" });
const picture = (name) => join(root, "docs", `${name}.png`);

async function exported(browser) {
  bough("export", SESSION, "--html", join(folder, "page.html"));
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 680 }, colorScheme, reducedMotion: "reduce" });
    await page.goto(pathToFileURL(join(folder, "page.html")).href);
    await page.fill("#words", "table");
    await page.keyboard.press("Enter");
    await page.waitForFunction("CSS.highlights.get('hit-now')?.size === 1 && document.querySelector('.row.reading') !== null");
    // The whole tree comes back, and the marks stay.
    await page.keyboard.press("Escape");
    await page.locator("#rows").waitFor();
    await page.screenshot({ path: picture(`page-${colorScheme}`) });
  }
}

async function live(browser, address) {
  const page = await browser.newPage(PHONE);
  await page.goto(address);
  await page.getByRole("searchbox").fill("test");
  await page.locator("mark").first().waitFor();
  await page.screenshot({ path: picture("page-list") });
  await page.goto(`${address}${SESSION}`);
  await page.locator("article").nth(2).waitFor();
  await page.evaluate("scrollTo(0, 60)");
  await append([
    userMessage("And a tab behind a comment?"),
    assistantMessage("It is skipped with the comment: the table has one row for both."),
    userMessage("Then add a test for it."),
  ]);
  await page.getByRole("button", { name: "3 new" }).waitFor();
  await page.screenshot({ path: picture("page-phone") });
}

/** What an agent writes meanwhile. */
async function append(messages) {
  const opened = await openStore({ path: store });
  const session = await opened.openSession(SESSION);
  for (const message of messages) await session.append(message);
  await opened.close();
}

for (const file of ["packages/cli/demo/sample.jsonl", "packages/formats/test/fixtures/qwen-chat.jsonl"]) bough("import", join(root, file));
const server = spawn(process.execPath, [BOUGH, "view", "--no-open", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
try {
  const browser = await chromium.launch({ executablePath: findChromium(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  await exported(browser);
  await live(browser, address);
  await browser.close();
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
