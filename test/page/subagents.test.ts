import { readFileSync } from "node:fs";
import { assistantMessage, toolResult, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openPage, useBrowser } from "./browser.js";
import { Home } from "./home.js";

const browser = useBrowser();
const home = new Home();
const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
const HOSTILE = "</details></article><script>ran()</script><img src=x onerror=ran()>";

let first = "";

/** A session that starts two subagents, one of which starts another one. */
beforeAll(async () => {
  home.variables["BOUGH_PAGE_PASSWORD"] = "correct horse, battery";
  await home.withStore(async (store) => {
    const main = await store.createSession({ id: "main", title: "Two tasks" });
    const call = (id: string) => ({ type: "toolCall", id, name: "Task", arguments: { description: `Look at ${id}` } }) as const;
    first = (await main.append(userMessage("Send two of them"))).id;
    const { id } = await main.append(assistantMessage([call("c1"), call("c2")]));
    await main.append([toolResult("c1", "It is red."), toolResult("c2", "It is blue."), assistantMessage("Red and blue.")]);
    const child = async (name: string, parent: { sessionId: string; entryId: string | null; toolCallId: string }) =>
      store.createSession({ id: name, title: `Agent ${name} ${HOSTILE}`, kind: "subagent", parent });
    const red = await child("red", { sessionId: "main", entryId: id, toolCallId: "c1" });
    await red.append(userMessage(`Look at the zebrafish. ${HOSTILE}`));
    const nested = await red.append(assistantMessage([{ type: "text", text: `export TOKEN=${TOKEN}` }, call("c3")]));
    await red.append(assistantMessage("It is **red**."));
    const deep = await child("deep", { sessionId: "red", entryId: nested.id, toolCallId: "c3" });
    await deep.append([userMessage("Deeper"), assistantMessage("The anglerfish is down here.")]);
    const blue = await child("blue", { sessionId: "main", entryId: id, toolCallId: "c2" });
    await blue.append([userMessage("Look at the other"), assistantMessage(`The token is ${TOKEN}, it is blue.`)]);
  });
});

describe("an exported page of a session with subagents", () => {
  test("has their conversations below the call, folded, found by its search, and linked to nothing outside", async () => {
    const { page } = await openPage(browser(), home.page("main"));
    const article = page.locator("#path article", { hasText: "Task" });
    const agents = article.locator(".body > .subagents > details.subagent");
    expect(await agents.locator("> summary b").allTextContents()).toEqual([`Agent red ${HOSTILE}`, `Agent blue ${HOSTILE}`]);
    expect(await article.getByText("It is red.", { exact: true }).last().isVisible()).toBe(false);
    await page.fill("#words", "anglerfish");
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.keyboard.press("Enter");
    await article.getByText("The anglerfish is down here.").waitFor();
    expect(await article.locator("details.subagent details.subagent[open] > summary b").allTextContents()).toEqual([
      `Agent deep ${HOSTILE}`,
    ]);
    expect(await page.evaluate("[document.images.length, typeof globalThis.ran]")).toEqual([0, "undefined"]);
  });

  test("is read without scripts, by keyboard and at the width of a telephone", async () => {
    const options = { javaScriptEnabled: false, viewport: { width: 375, height: 700 } };
    const { page } = await openPage(browser(), home.page("main"), options);
    const summary = page.locator("details.subagent > summary").first();
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.locator(".step.user", { hasText: "zebrafish" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("masks a secret of one of them in all, and says so once", () => {
    const text = readFileSync(home.page("main"), "utf8");
    expect(text).not.toContain(TOKEN);
    expect(text.match(/\[GitHub token 1\]/g)?.length).toBeGreaterThanOrEqual(2);
    expect(readFileSync(home.page("main", "--with-secrets"), "utf8")).toContain(TOKEN);
  });

  test("leaves them out on request, and of a branch has those that it started", () => {
    const text = (...options: readonly string[]) => readFileSync(home.page("main", ...options), "utf8");
    expect(text("--no-subagents")).not.toContain("anglerfish");
    expect(text("--branch", "@leaf")).toContain("anglerfish");
    expect(text("--branch", first)).not.toContain("anglerfish");
  });

  test("opens with a password, and says nothing of them before", async () => {
    const file = home.page("main", "--password");
    expect(readFileSync(file, "utf8")).not.toMatch(/anglerfish|zebrafish/);
    const { page } = await openPage(browser(), file);
    await page.getByLabel("Password").fill("correct horse, battery");
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator("details.subagent > summary", { hasText: "Agent red" }).click();
    await page.locator(".step.user", { hasText: "zebrafish" }).waitFor();
  });
});
