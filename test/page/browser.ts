import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

const FIND = join(import.meta.dirname, "../../.ci/browser.mjs");

/** A real Chromium for the tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const executablePath = execFileSync(process.execPath, [FIND], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
    // Chromium refuses to run as root with its sandbox.
    browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  });
  afterAll(async () => browser?.close());
  return () => {
    if (browser === undefined) throw new Error("The browser is started by beforeAll.");
    return browser;
  };
}

/** A page of a browser, and what must never happen in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors, console messages, dialogs, requests and violations of the policy so far. */
  readonly incidents: readonly string[];
}

interface OpenOptions extends BrowserContextOptions {
  /** True if the other pages of its server may be requested too. */
  readonly followed?: boolean;
}

/** A busy machine may need long; what never comes is noticed by then. */
const LONGEST_WAIT_MS = 120_000;

/** Opens an address or a file. At the end of the test nothing may have gone wrong in it. */
export async function openPage(
  browser: Browser,
  address: string,
  { followed = false, ...options }: OpenOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(LONGEST_WAIT_MS);
  const page = await context.newPage();
  const incidents: string[] = [];
  const [path = "", hash] = address.split("#");
  const url = /^https?:/.test(address) ? address : `${pathToFileURL(path).href}${hash === undefined ? "" : `#${hash}`}`;
  // All pages of a server stand below its secret folder.
  const [folder = url] = /^https?:\/\/[^/]+\/[^/]+\//.exec(url) ?? [];
  page.on("console", (message) => incidents.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => incidents.push(`error: ${error.message}`));
  page.on("popup", (popup) => incidents.push(`popup: ${popup.url()}`));
  page.on("dialog", (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (followed && request.url().startsWith(folder)) return;
    if (request.url().split("#")[0] !== url.split("#")[0] && !request.url().startsWith("data:"))
      incidents.push(`request: ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(incidents).toEqual([]);
  });
  // A violation of the policy is reported to the console too; this one says which directive and what.
  await page.addInitScript({
    content: `addEventListener("securitypolicyviolation", (e) => console.error("policy " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));`,
  });
  await page.goto(url);
  return { page, incidents };
}

/** Waits until an expression is true in a page. Playwright's own wait evaluates a text there, which the policy of the page forbids. */
export async function holds(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(`Boolean(${expression})`), { timeout: LONGEST_WAIT_MS }).toBe(true);
}
