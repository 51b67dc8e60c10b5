import { assistantMessage, userMessage } from "@bough/session-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { holds, openPage, useBrowser } from "./browser.js";
import { Home } from "./home.js";
import { view } from "./viewer.js";

const browser = useBrowser();
const home = new Home();

/** Sessions of two directories, one of them a year old. */
beforeAll(async () => {
  await home.withStore(async (store) => {
    for (const [id, cwd, text] of [
      ["parser", "/home/ada/parser", "Mend the zebrafish lexer"],
      ["site", "/home/ada/site", "Paint the zebrafish blue"],
      ["other", "/home/ada/site", "Something else"],
    ] as const) {
      const session = await store.createSession({ id, cwd, title: `About ${id}` });
      const settings = id === "other" ? [{ type: "model_change", provider: "sea", modelId: "zebra-1" } as const] : [];
      await session.append([...settings, userMessage(text), assistantMessage("Done.")]);
    }
    const old = await store.createSession({ id: "old", cwd: "/home/ada/parser", title: "About old", createdAtMs: Date.UTC(2020, 1, 1) });
    await old.append({ ...userMessage("An old zebrafish"), createdAtMs: Date.UTC(2020, 1, 1) });
  });
});

async function open(): Promise<Page> {
  const { address } = await view(home);
  const { page } = await openPage(browser(), address, { followed: true });
  await page.locator("html.script").waitFor();
  return page;
}

const titles = (page: Page) => page.locator("#sessions .title").allTextContents();

describe("the list of sessions", () => {
  test("is searched while a person types, by the command's search, and leads to the hit", async () => {
    const page = await open();
    await page.keyboard.press("/");
    await page.keyboard.type("zebrafish lex");
    await page.locator("#said", { hasText: "1 match" }).waitFor();
    const found = JSON.parse(home.bough("search", "zebrafish lex", "--json")) as { hits: { sessionId: string }[] };
    expect(await page.locator("#sessions > li").getAttribute("data-session")).toBe(found.hits[0]?.sessionId);
    expect(await page.locator(".hits mark").allTextContents()).toEqual(["zebrafish", "lex"]);
    await page.locator(".hits a").click();
    await page.locator("article:focus", { hasText: "Mend the zebrafish lexer" }).waitFor();
    expect(await page.inputValue("#words")).toBe("zebrafish lex");
    await page.goBack();
    await page.locator("#said", { hasText: "1 match" }).waitFor();
    expect(await page.inputValue("#words")).toBe("zebrafish lex");
  });

  test("is chosen by agent, directory and time, also together with words", async () => {
    const page = await open();
    await page.selectOption('select[name="directory"]', "/home/ada/site");
    await page.locator("#said", { hasText: "2 sessions" }).waitFor();
    expect(new Set(await titles(page))).toEqual(new Set(["About site", "About other"]));
    await page.fill("#words", "zebrafish");
    await page.locator("#said", { hasText: "1 session, 1 match" }).waitFor();
    expect(await titles(page)).toEqual(["About site"]);
    await page.selectOption('select[name="directory"]', "");
    await page.locator("#said", { hasText: "3 sessions" }).waitFor();
    await page.selectOption('select[name="since"]', "1y");
    await page.locator("#said", { hasText: "2 sessions" }).waitFor();
    expect(await titles(page)).not.toContain("About old");
    expect(await page.locator('select[name="agent"] option').allTextContents()).toEqual(["All agents", "bough"]);
    await page.reload();
    expect(await page.inputValue('select[name="since"]')).toBe("1y");
  });

  test("has its search and its filters on one line, also with long directories", async () => {
    const page = await open();
    await page.evaluate(`document.querySelector('select[name="directory"]').add(new Option("/home/ada/" + "directory".repeat(9)))`);
    const tops = await page.evaluate(
      "[...document.querySelectorAll('#filter > :not(button)')].map((one) => one.getBoundingClientRect().top)",
    );
    expect(new Set(tops as number[]).size).toBe(1);
  });

  test("takes filters in the query, alone and with words", async () => {
    const page = await open();
    await page.fill("#words", "dir:site");
    await page.locator("#said", { hasText: "2 sessions" }).waitFor();
    expect(new Set(await titles(page))).toEqual(new Set(["About site", "About other"]));
    await page.fill("#words", "dir:SITE zebrafish");
    await page.locator("#said", { hasText: "1 session, 1 match" }).waitFor();
    await page.fill("#words", "until:1y");
    await page.locator("#said", { hasText: /^1 session$/ }).waitFor();
    expect(await titles(page)).toEqual(["About old"]);
    await page.fill("#words", "model:zebra-1");
    await page.locator("#sessions .title", { hasText: "About other" }).waitFor();
    expect(await titles(page)).toEqual(["About other"]);
    await page.fill("#words", "since:whenever");
    await page.locator("#said", { hasText: "since:whenever is not a time" }).waitFor();
  });

  test("has forks below their originals, and groups by directory or day", async () => {
    await home.withStore(async (store) => {
      await store.forkSession("parser", { id: "fork", title: "A fork of the parser" });
    });
    const page = await open();
    const fork = page.locator('[data-session="fork"]');
    expect(await fork.getAttribute("class")).toBe("fork1");
    expect(await page.locator('[data-session="parser"] + [data-session="fork"]').count()).toBe(1);
    await page.selectOption('select[name="group"]', "directory");
    await page.locator("#sessions h2", { hasText: "/home/ada/site" }).waitFor();
    expect(await page.locator("#sessions h2").allTextContents()).toEqual(["/home/ada/parser", "/home/ada/site"]);
    await page.selectOption('select[name="group"]', "day");
    await page.locator("#sessions h2", { hasText: "2020-02-01" }).waitFor();
    await home.withStore((store) => store.deleteSession("fork"));
  });

  test("says of a query that cannot be searched why", async () => {
    const page = await open();
    await page.fill("#words", "/(/");
    await page.locator("#said", { hasText: "0 sessions." }).waitFor();
  });

  test("shows what arrives by itself, and marks what was not read until it is", async () => {
    const page = await open();
    await page.getByRole("link", { name: "About other" }).click();
    await holds(page, `localStorage.getItem("bough-seen:other") === "3"`);
    await page.getByRole("link", { name: "Sessions" }).click();
    const item = page.locator('[data-session="other"]');
    await item.waitFor();
    expect(await page.locator(".unread").count()).toBe(0);
    await home.withStore(
      async (store) => void (await (await store.openSession("other")).append([userMessage("More"), assistantMessage("Yes.")])),
    );
    await item.locator(".unread", { hasText: "2 new" }).waitFor();
    await home.withStore(async (store) => {
      const session = await store.createSession({ id: "fresh", title: "About fresh" });
      await session.append(userMessage("I am new"));
    });
    await page.locator('[data-session="fresh"] .unread', { hasText: "new" }).waitFor();
    await item.locator(".title").click();
    await holds(page, `localStorage.getItem("bough-seen:other") === "5"`);
    await page.goBack();
    await item.locator(".unread").waitFor({ state: "detached" });
  });

  test("fits a telephone, with the path of a directory and a title that are wider", async () => {
    await home.withStore(async (store) => {
      const cwd = `/home/ada/${"a-long-name/".repeat(6)}deep`;
      const session = await store.createSession({ id: "wide", cwd, title: "Read the documentation first. ".repeat(12) });
      await session.append(userMessage("Go"));
    });
    const { address } = await view(home);
    const { page } = await openPage(browser(), address, { followed: true, viewport: { width: 375, height: 700 }, isMobile: true });
    await page.locator("html.script").waitFor();
    const rights = await page.evaluate<number[]>(
      `[...document.querySelectorAll("#filter *")].map((one) => one.getBoundingClientRect().right)`,
    );
    expect(Math.max(...rights)).toBeLessThanOrEqual(375);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    expect(await page.evaluate(`document.querySelector('[data-session="wide"] .title').getClientRects()[0].height`)).toBeLessThan(90);
    await home.withStore((store) => store.deleteSession("wide"));
  });

  test("is the same for a browser without scripts", async () => {
    const { address } = await view(home);
    const { page } = await openPage(browser(), address, { followed: true, javaScriptEnabled: false });
    await page.fill("#words", "lexer");
    await page.getByRole("button", { name: "Search" }).click();
    expect(await titles(page)).toEqual(["About parser"]);
  });
});
