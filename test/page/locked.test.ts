import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openPage, useBrowser } from "./browser.js";
import { Home, SAMPLE } from "./home.js";

const PASSWORD = "correct horse, battery";

const browser = useBrowser();
const home = new Home();
let file = "";

beforeAll(() => {
  home.bough("import", SAMPLE);
  home.variables["BOUGH_PAGE_PASSWORD"] = PASSWORD;
  file = home.page("demo-lexer-tabs", "--password");
});

async function unlock(page: Page, password: string): Promise<void> {
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Open" }).click();
}

describe("an encrypted page", () => {
  test("says nothing of the session before the password", async () => {
    // Base64 of encrypted bytes has every word of four letters sooner or later.
    const text = readFileSync(file, "utf8").replaceAll(/[A-Za-z0-9+/]{200,}=*/g, "");
    expect(text.length).toBeLessThan(100_000);
    expect(text).not.toMatch(/lexer|tabs|regular/i);
    const { page } = await openPage(browser(), file);
    expect(await page.title()).toBe("An encrypted page");
  });

  test("becomes the page with the right password, with its search, its branches and its policy", async () => {
    const { page } = await openPage(browser(), file);
    await unlock(page, PASSWORD);
    await page.getByRole("heading", { level: 1, name: "Tabs in the lexer" }).waitFor();
    expect(await page.locator("#path article").count()).toBe(15);
    await page.getByRole("treeitem", { name: "Try the regular expression." }).click();
    await page.locator("#path article", { hasText: "Try the regular expression." }).waitFor();
    await page.fill("#words", "kipped");
    await page.locator("#found", { hasText: /found$/ }).waitFor();
  });

  test("opens a link to an entry at that entry", async () => {
    const [hit] = (JSON.parse(home.bough("search", '"Try the regular expression"', "--json")) as { hits: { entryId: string }[] }).hits;
    const { page } = await openPage(browser(), `${file}#e=${hit?.entryId}`);
    await unlock(page, PASSWORD);
    await page.locator("article:focus", { hasText: "Try the regular expression." }).waitFor();
  });

  test("says that it cannot be shown, not that the password is wrong, where a browser does not let it", async () => {
    const { page } = await openPage(browser(), file);
    await page.evaluate(`document.open = () => {
      throw new Error("writing is off");
    }`);
    await unlock(page, PASSWORD);
    await page
      .getByRole("status")
      .filter({ hasText: "The password is right, but this browser cannot show the page: writing is off" })
      .waitFor();
  });

  test("stays closed with another password, or when a byte of it has changed, and can be tried again", async () => {
    const { page } = await openPage(browser(), file);
    await unlock(page, `${PASSWORD}!`);
    await page.getByRole("status").filter({ hasText: "not the password" }).waitFor();
    await unlock(page, PASSWORD);
    await page.getByRole("heading", { level: 1, name: "Tabs in the lexer" }).waitFor();

    const text = readFileSync(file, "utf8");
    const at = text.indexOf("data-rounds") + 200;
    const changed = home.path("changed.html");
    writeFileSync(changed, `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`);
    const other = await openPage(browser(), changed);
    await unlock(other.page, PASSWORD);
    await other.page.getByRole("status").filter({ hasText: "damaged" }).waitFor();
  });
});
