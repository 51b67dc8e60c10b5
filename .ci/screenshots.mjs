// Writes docs/page-light.png and docs/page-dark.png: the HTML page of the demo session in Chromium.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findChromium } from "./browser.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "test/package.json"))("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "bough-page-"));
try {
  const env = { ...process.env, BOUGH_STORE: join(folder, "sessions.db"), TZ: "UTC" };
  const bough = (...args) => execFileSync(process.execPath, [join(root, "packages/cli/dist/bough.js"), ...args], { env, stdio: "ignore" });
  bough("import", join(root, "packages/cli/demo/sample.jsonl"));
  bough("export", "demo-lexer-tabs", "--html", join(folder, "page.html"));
  const browser = await chromium.launch({ executablePath: findChromium(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 980, height: 600 }, colorScheme, reducedMotion: "reduce" });
    await page.goto(pathToFileURL(join(folder, "page.html")).href);
    await page.fill("#words", "table");
    await page.keyboard.press("Enter");
    await page.waitForFunction("CSS.highlights.get('hit-now')?.size === 1 && document.querySelector('.row.reading') !== null");
    await page.screenshot({ path: join(root, `docs/page-${colorScheme}.png`) });
  }
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}
