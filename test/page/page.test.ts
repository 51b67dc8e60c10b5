import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPage, useBrowser } from "./browser.js";

const BOUGH = join(import.meta.dirname, "../../packages/cli/dist/bough.js");
const SAMPLE = join(import.meta.dirname, "../../packages/cli/demo/sample.jsonl");

const browser = useBrowser();
const folder = mkdtempSync(join(tmpdir(), "bough-page-"));
const store = join(folder, "sessions.db");
const file = join(folder, "lexer.html");

function bough(...args: readonly string[]): string {
  return execFileSync(process.execPath, [BOUGH, ...args, "--store", store], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The id of the entry with this text. */
function entryWith(text: string): string {
  const { hits } = JSON.parse(bough("search", `"${text}"`, "--json", "--limit", "1")) as { hits: { entryId: string }[] };
  return hits[0]?.entryId ?? "none";
}

beforeAll(() => {
  bough("import", SAMPLE);
  bough("export", "demo-lexer-tabs", "--html", file);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the page of a session", () => {
  test("shows the path of the leaf, and the branches that leave it in the tree", async () => {
    const { page } = await openPage(browser(), file);
    await page.getByRole("heading", { level: 1, name: "Tabs in the lexer" }).waitFor();
    expect(await page.locator("#path > article").count()).toBe(15);
    const head = page.getByRole("treeitem", { name: "Try the regular expression." });
    expect(await head.getAttribute("aria-expanded")).toBe("false");
    await head.click();
    await page.locator("#path > article.user", { hasText: "Try the regular expression." }).waitFor();
    expect(await head.getAttribute("aria-expanded")).toBe("true");
  });

  test("a link to an entry of another branch shows that branch", async () => {
    const { page } = await openPage(browser(), `${file}#e=${entryWith("Try the regular expression.")}`);
    await page.locator("article:focus", { hasText: "Try the regular expression." }).waitFor();
  });
});
