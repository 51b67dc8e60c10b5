import { assistantMessage, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, test } from "vitest";
import { holds, openPage, useBrowser } from "./browser.js";
import { Home } from "./home.js";

const browser = useBrowser();
const home = new Home();
let file = "";

/** More than a page writes as folds. */
const CALLS = 560;

beforeAll(async () => {
  await home.withStore(async (store) => {
    const session = await store.createSession({ id: "long", title: "Long" });
    await session.append(userMessage("Read them all."));
    for (let at = 0; at < CALLS; at += 1) {
      const isEdit = at === CALLS - 2;
      const args = isEdit ? { path: "a.ts", edits: [{ oldText: "let a;", newText: "let b;" }] } : { path: `file-${at}.ts` };
      const call = { type: "toolCall", id: `c${at}`, name: isEdit ? "edit" : "read", arguments: args } as const;
      await session.append(assistantMessage([{ type: "text", text: `Part ${at}.` }, call]));
      const result = { role: "toolResult", toolCallId: call.id, toolName: call.name, content: `let number${at};\nexport {};` } as const;
      await session.append({ type: "message", message: result });
    }
  });
  file = home.page("long");
});

describe("a page with more tool calls than a browser makes folds of quickly", () => {
  test("looks the same at its end, and its calls are folds there", async () => {
    const { page } = await openPage(browser(), file);
    await page.keyboard.press("G");
    const last = page.locator("#path article").last();
    const fold = last.locator("details.call");
    await fold.waitFor();
    expect(await fold.locator("pre").first().isVisible()).toBe(false);
    await fold.locator("summary").click();
    expect(await fold.locator("pre").last().textContent()).toContain(`let number${CALLS - 1};`);
    expect(await fold.locator("pre").last().isVisible()).toBe(true);
    expect(await page.locator("#path article").nth(-2).locator("details.call[open] pre.diff ins").isVisible()).toBe(true);
  });

  test("all become folds, so that the browser's own search opens them", async () => {
    const { page } = await openPage(browser(), file);
    await holds(page, "document.querySelectorAll('.block').length === 0");
    expect(await page.locator("details.call").count()).toBe(CALLS);
    expect(await page.locator("details.call[open]").count()).toBe(1);
  });

  test("makes the rest of the folds when the browser's own search is called", async () => {
    const { page } = await openPage(browser(), file);
    await holds(page, "document.querySelectorAll('.block').length === 0");
    // A block that no pause of the browser has come to yet.
    await page.evaluate(`(() => {
      const block = document.createElement("div");
      block.className = "call block";
      block.append(document.createElement("p"), document.createElement("pre"));
      [...document.querySelectorAll("#path article .body")].at(-1).append(block);
    })()`);
    await page.keyboard.press("Control+f");
    expect(await page.locator(".block").count()).toBe(0);
    expect(await page.locator("details.call").count()).toBe(CALLS + 1);
  });

  test("opens the call that a match stands in", async () => {
    const { page } = await openPage(browser(), file);
    await page.fill("#words", `number${CALLS - 5}`);
    await page.keyboard.press("Enter");
    await page.locator("#found", { hasText: "1 of 1" }).waitFor();
    await page.locator("details.call[open]", { hasText: `number${CALLS - 5}` }).waitFor();
  });

  test("has them open without its script", async () => {
    const { page } = await openPage(browser(), file, { javaScriptEnabled: false });
    const last = page.locator("#path article").last();
    await last.scrollIntoViewIfNeeded();
    expect(await last.locator("pre").last().isVisible()).toBe(true);
    expect(await page.locator("#path article").nth(1).locator("details.call pre").first().isVisible()).toBe(false);
  });
});
