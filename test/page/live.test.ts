import { createRequire } from "node:module";
import { join } from "node:path";
import { assistantMessage, type EntryId, userMessage } from "@bough/session-core";
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { claudeLines, claudeNext, claudeReply, syncedHome } from "../sync/synced-home.js";
import { holds, openPage, useBrowser } from "./browser.js";
import { Home } from "./home.js";
import { useViewer, view } from "./viewer.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const CLAUDE = "0b5e8a52-1111-4222-8333-00000000000a";

const browser = useBrowser();
const home = new Home();
// It shows a store that is there.
beforeAll(() => home.withStore(async () => undefined));
const viewer = useViewer(home);
let sessions = 0;
/** The session of a test. */
let id = "";

/** Appends messages of the user and of a model in turn, below each other. */
async function write(...texts: readonly string[]): Promise<readonly EntryId[]> {
  return home.withStore(async (store) => {
    const session = await store.openSession(id);
    const ids: EntryId[] = [];
    for (const [at, text] of texts.entries())
      ids.push((await session.append(at % 2 === 0 ? userMessage(text) : assistantMessage(text))).id);
    return ids;
  });
}

/** Texts that are higher than a screen together. */
const long = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name} ${at}. ${"The quick brown fox. ".repeat(30)}`);

async function open(path = id): Promise<Page> {
  const { address } = viewer();
  const { page } = await openPage(browser(), `${address}${path}`, { followed: true });
  await page.locator('.live[data-state="on"]').waitFor();
  return page;
}

/** The marked texts, each once, in lower case. */
const MARKED = "[...new Set([...CSS.highlights.get('hit')].map((range) => String(range).toLowerCase()))].sort()";

/** The place of the current match. */
const PLACE = "[...CSS.highlights.get('hit-now')][0].getBoundingClientRect()";

const article = (page: Page, text: string) => page.locator("#path article", { hasText: text });
const pill = (page: Page) => page.locator(".pill");

beforeEach(async () => {
  sessions += 1;
  id = `live-${sessions}`;
  await home.withStore(async (store) => void (await store.createSession({ id, title: `Session ${sessions}`, cwd: "/home/ada/parser" })));
});

describe("the page of a session that goes on", () => {
  test("shows new entries by themselves; a reader at the end sees them, and the tree has them", async () => {
    await write(...long("Old", 6));
    const page = await open();
    await page.keyboard.press("G");
    await holds(page, "document.activeElement.textContent.includes('Old 5')");
    await page.fill("#words", "a word");
    await write("What is new?");
    await article(page, "What is new?").waitFor();
    await holds(page, "document.querySelector('#path article:last-of-type').getBoundingClientRect().bottom <= innerHeight");
    expect(await page.evaluate("document.activeElement.id")).toBe("words");
    expect(await pill(page).isVisible()).toBe(false);
    await page.getByRole("treeitem", { name: "What is new?" }).waitFor();
  });

  test("counts them where the reader is not at the end, and leads there", async () => {
    await write(...long("Old", 12));
    const page = await open();
    await write("One", "Two");
    await write("Three");
    await page.locator(".pill", { hasText: "3 new" }).waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
    await pill(page).click();
    await page.locator("#path article:focus", { hasText: "Three" }).waitFor();
    await pill(page).waitFor({ state: "hidden" });
  });

  test("keeps what is open and focused when the block around it grows", async () => {
    await write("Look", "Yes");
    await home.withStore(async (store) => {
      const session = await store.openSession(id);
      const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "a.ts" } } as const;
      await session.append({ type: "message", message: { role: "assistant", content: [call] } });
      await session.append({ type: "message", message: { role: "toolResult", toolCallId: "c", toolName: "read", content: "let a;" } });
    });
    const page = await open();
    const fold = page.locator("details.call");
    await fold.locator("summary").click();
    await write("More");
    await article(page, "More").waitFor({ state: "attached" });
    expect(await fold.getAttribute("open")).not.toBeNull();
    expect(await page.evaluate("document.activeElement.localName")).toBe("summary");
  });

  test("draws a line above what came since the last visit", async () => {
    await write(...long("Old", 6));
    const page = await open();
    await page.keyboard.press("G");
    await holds(page, `localStorage.getItem("bough-seen:${id}") === "6"`);
    const address = page.url();
    await page.goto("about:blank");
    await write(...long("New", 3));
    await page.goto(address);
    await page.locator(".pill", { hasText: "3 new" }).waitFor();
    await page.getByRole("separator", { name: "New since you were here" }).waitFor({ state: "attached" });
    expect(await page.evaluate("document.querySelector('.seen').nextElementSibling.textContent")).toContain("New 0");
  });

  test("says that a reply is being written, until it is there", async () => {
    const here = syncedHome();
    const watching = here.start("sync", "--watch");
    await watching.until((said) => said.startsWith("Watching"));
    const file = join(here.folder, ".claude", "projects", "-home-ada", `${CLAUDE}.jsonl`);
    here.write(file, claudeLines(CLAUDE, "hello") + claudeReply(CLAUDE, "Hello, "));
    await watching.until((said) => said.includes("being written"));
    const { address } = await view(here);
    const { page } = await openPage(browser(), `${address}${CLAUDE}`, { followed: true });
    await page.locator("#held", { hasText: "being written" }).waitFor();
    here.append(file, claudeNext(CLAUDE, "More"));
    await article(page, "More").waitFor();
    await page.locator("#held").waitFor({ state: "hidden" });
    expect(await article(page, "Hello,").count()).toBe(1);
  });

  test("loses no entry while the connection is lost", async () => {
    await write("First", "Yes");
    const page = await open();
    // The page is hidden: it has no stream then, as in a tab in the background.
    await page.evaluate(
      `Object.defineProperty(document, "hidden", { value: true, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
    );
    for (const text of ["a", "b", "c"]) await write(`While away ${text}`);
    await page.evaluate(
      `Object.defineProperty(document, "hidden", { value: false, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
    );
    for (const text of ["a", "b", "c"]) await article(page, `While away ${text}`).waitFor();
  });

  test("keeps how far it was read in another tab", async () => {
    await write(...long("Old", 12));
    const page = await open();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.locator('.live[data-state="on"]').waitFor();
    await other.keyboard.press("G");
    await holds(other, `localStorage.getItem("bough-seen:${id}") === "12"`);
    // A browser tells its other processes of a stored value later.
    await holds(page, `localStorage.getItem("bough-seen:${id}") === "12"`);
    await page.evaluate(`Storage.prototype.setItem = function (key, value) { globalThis.kept = value }; scrollTo(0, 200)`);
    await holds(page, "globalThis.kept !== undefined");
    expect(await page.evaluate("globalThis.kept")).toBe("12");
  });

  test("says that the session goes on on another branch, and leads there", async () => {
    const [first = ""] = await write("Start", "Done");
    const page = await open();
    await home.withStore(async (store) => {
      const session = await store.openSession(id);
      await session.moveLeaf(first);
      await session.append(assistantMessage("Another way"));
    });
    await page.locator(".pill", { hasText: "on another branch" }).click();
    await article(page, "Another way").waitFor();
    expect(await article(page, "Done").count()).toBe(0);
    await page.getByRole("navigation", { name: "Branches" }).getByRole("link", { name: "Done" }).click();
    await article(page, "Done").waitFor();
  });

  test("says when the session was deleted", async () => {
    await write("Start");
    const page = await open();
    await home.withStore(async (store) => store.deleteSession(id));
    await page.locator(".live", { hasText: "deleted" }).waitFor();
  });

  test("a link to an entry, and one to the end of its branch, survive new entries", async () => {
    const [, middle = ""] = await write(...long("Old", 12));
    const page = await open(`${id}#e=${middle}`);
    await page.locator("article:focus", { hasText: "Old 1." }).waitFor();
    await write(...long("New", 4));
    await page.goto(`${page.url().split("#")[0]}#b=${middle}`);
    await page.reload();
    await page.locator("article:focus", { hasText: "New 3." }).waitFor();
    await page.goto(`${page.url().split("#")[0]}#e=${middle}`);
    await page.locator("article:focus", { hasText: "Old 1." }).waitFor();
  });
});

describe("moving and choosing", () => {
  beforeEach(async () => void (await write("Prompt one", "Reply one", "Prompt two", "Reply two")));

  test("J and K go from prompt to prompt", async () => {
    const page = await open();
    await page.keyboard.press("j");
    await page.locator("article:focus", { hasText: "Prompt one" }).waitFor();
    await page.keyboard.press("J");
    await page.locator("article:focus", { hasText: "Prompt two" }).waitFor();
    await page.keyboard.press("K");
    await page.locator("article:focus", { hasText: "Prompt one" }).waitFor();
  });

  test("the list of actions has each with its keys, finds them by words, and does the chosen one", async () => {
    const page = await open();
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog", { name: "Actions and keys" });
    expect(await dialog.getByRole("option", { name: "Next prompt J" }).count()).toBe(1);
    await page.keyboard.type("prompts only");
    await page.keyboard.press("Enter");
    await article(page, "Reply one").waitFor({ state: "hidden" });
    expect(await article(page, "Prompt one").isVisible()).toBe(true);
    await page.keyboard.press(":");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  });

  test("the search is the command's, over all branches, and shows an entry that a filter hides", async () => {
    await home.withStore(async (store) => {
      const session = await store.openSession(id);
      await session.moveLeaf(null);
      await session.append(userMessage("A zebrafish on another branch"));
      await session.undoMove();
    });
    const page = await open();
    await page.selectOption("#kinds", "failures");
    await page.fill("#words", '"reply two"');
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.keyboard.press("Enter");
    await article(page, "Reply two").waitFor();
    await holds(page, "CSS.highlights.has('hit-now')");
    // One letter is wrong: the command finds it too.
    await page.fill("#words", "zebrafihs");
    await page.locator("#found", { hasText: "1 found, spelled zebrafish" }).waitFor();
    await page.locator("details.hits summary").click();
    await page.locator("details.hits a", { hasText: "zebrafish" }).click();
    await article(page, "A zebrafish on another branch").waitFor();
  });

  test("the search narrows the tree to what it found, until it ends", async () => {
    const page = await open();
    await page.fill("#words", "prompt");
    const found = page.getByRole("tree", { name: "Entries with the words" });
    await found.waitFor();
    expect(await found.getByRole("treeitem").allTextContents()).toEqual(["Prompt one", "Prompt two"]);
    expect(await page.getByRole("treeitem", { name: "Reply one" }).isVisible()).toBe(false);
    await page.locator("#conversation").focus();
    await page.keyboard.press("t");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator("article:focus", { hasText: "Prompt two" }).waitFor();
    await page.fill("#words", "");
    await page.getByRole("treeitem", { name: "Reply one" }).waitFor();
    expect(await found.count()).toBe(0);
  });

  test("the words beside a filter are marked, and Enter goes to their place", async () => {
    await write(`${"Something else. ".repeat(400)}The needle.`, "A needle of the model");
    const page = await open();
    await page.fill("#words", "role:user needle");
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.keyboard.press("Enter");
    await holds(page, "CSS.highlights.has('hit-now')");
    expect(await page.evaluate(MARKED)).toEqual(["needle"]);
    await holds(page, `(${PLACE}).top > 0 && (${PLACE}).bottom < innerHeight`);
  });

  test("the words of a question are marked in all their forms, and a spelling mistake as it is written", async () => {
    await write("Who wrote the parsers of tables?");
    const page = await open();
    await page.fill("#words", "why is the table parser written?");
    await holds(page, "CSS.highlights.get('hit')?.size === 3");
    expect(await page.evaluate(MARKED)).toEqual(["parsers", "tables", "wrote"]);
    await page.fill("#words", "parsrs");
    await page.locator("#found", { hasText: "spelled parsers" }).waitFor();
    expect(await page.evaluate(MARKED)).toEqual(["parsers"]);
  });

  test("a match in the result of a call is marked in its reply", async () => {
    await home.withStore(async (store) => {
      const session = await store.openSession(id);
      const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "a.ts" } } as const;
      await session.append({ type: "message", message: { role: "assistant", content: [call] } });
      await session.append({
        type: "message",
        message: { role: "toolResult", toolCallId: "c", toolName: "read", content: "let axolotl;" },
      });
    });
    const page = await open();
    await page.fill("#words", "tool:read axolotl");
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.keyboard.press("Enter");
    await holds(page, "[...(CSS.highlights.get('hit-now') ?? [])].join() === 'axolotl'");
    expect(await page.locator("details.call").getAttribute("open")).not.toBeNull();
  });

  test("an answer that comes after Escape leaves the whole tree as it is", async () => {
    const page = await open();
    const answers: (() => void)[] = [];
    await page.route("**/find?*", async (route) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      await route.continue();
    });
    await page.fill("#words", "prompt");
    await expect.poll(() => answers.length).toBe(1);
    await page.keyboard.press("Escape");
    answers[0]?.();
    await page.locator("#found", { hasText: "2 found" }).waitFor();
    expect(await page.getByRole("treeitem", { name: "Reply one" }).isVisible()).toBe(true);
    expect(await page.getByRole("tree", { name: "Entries with the words" }).count()).toBe(0);
  });

  test("Tab leads to the found rows, and Escape from one to the same row of the whole tree", async () => {
    const page = await open();
    await page.fill("#words", "reply");
    const found = page.getByRole("tree", { name: "Entries with the words" });
    await found.waitFor();
    await page.locator('#path article [href^="#e="]').last().focus();
    for (let at = 0; at < 5 && (await found.locator(":focus").count()) === 0; at += 1) await page.keyboard.press("Tab");
    await found.locator(":focus", { hasText: "Reply one" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await found.locator(":focus", { hasText: "Reply two" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#rows :focus", { hasText: "Reply two" }).waitFor();
    expect(await found.count()).toBe(0);
    await page.keyboard.press("ArrowUp");
    await page.locator("#rows :focus", { hasText: "Prompt two" }).waitFor();
  });

  test("Escape in the tree of a narrow window leads back to the conversation", async () => {
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}${id}`, { followed: true, viewport: { width: 400, height: 700 } });
    await page.locator('.live[data-state="on"]').waitFor({ state: "attached" });
    await page.keyboard.press("t");
    await page.locator('[role="treeitem"]:focus').waitFor();
    await page.keyboard.press("Escape");
    await page.locator("article:focus").waitFor();
    expect(await page.getByRole("tree").isVisible()).toBe(false);
  });

  test("a search on a telephone has its words, its count and both buttons in the bar, beside each other", async () => {
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}${id}`, { followed: true, viewport: { width: 375, height: 700 } });
    await page.locator('.live[data-state="on"]').waitFor({ state: "attached" });
    for (const [words, found] of [
      ["role:assistant reply", "2 found"],
      ["rply", "2 found, spelled reply"],
    ] as const) {
      await page.fill("#words", words);
      await page.locator("#found", { hasText: found }).waitFor();
      await page.getByRole("button", { name: "Next match" }).waitFor();
      const boxes = await page.evaluate<[number, number][]>(
        `[...document.querySelectorAll("#bar :is(a, button, input, select, output)")].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])`,
      );
      for (const [at, [left]] of boxes.entries()) expect(left).toBeGreaterThanOrEqual(boxes[at - 1]?.[1] ?? 0);
      expect(boxes.at(-1)?.[1]).toBeLessThanOrEqual(375);
      expect(await page.evaluate("document.querySelector('#words').offsetWidth")).toBeGreaterThan(100);
    }
  });

  test.each([960, 1100, 1280])("beside a long title a search has its place in a bar of %i pixels", async (width) => {
    await home.withStore((store) => store.renameSession(id, "Read all of the documentation first. ".repeat(6)));
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}${id}`, { followed: true, viewport: { width, height: 700 } });
    await page.locator('.live[data-state="on"]').waitFor();
    await page.fill("#words", "reply");
    await page.locator("#found", { hasText: "2 found" }).waitFor();
    const boxes = await page.evaluate<[number, number][]>(
      `[...document.querySelectorAll("#bar :is(a, button, input, select, output)")].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]).sort(([a], [b]) => a - b)`,
    );
    for (const [at, [left]] of boxes.entries()) expect(left).toBeGreaterThanOrEqual(boxes[at - 1]?.[1] ?? 0);
    expect(boxes.at(-1)?.[1]).toBeLessThanOrEqual(width);
    const cut = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('#found'))";
    expect(await page.evaluate(cut)).toBe(false);
    expect(await page.evaluate("document.querySelector('#intro h1').getClientRects()[0].height")).toBeLessThan(100);
  });

  test("the menu of an entry copies its link and the commands that go on from it", async () => {
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}${id}`, { followed: true, permissions: ["clipboard-read", "clipboard-write"] });
    const copied = async (name: string) => {
      await article(page, "Prompt two").focus();
      await page.keyboard.press(".");
      await page.getByRole("menuitem", { name }).press("Enter");
      await page.locator("output#said", { hasText: "Copied" }).waitFor();
      return page.evaluate("navigator.clipboard.readText()");
    };
    const entry = ((await article(page, "Prompt two").getAttribute("id")) ?? "").slice(2);
    expect(await copied("resume in its agent")).toBe(`bough resume ${id} ${entry}`);
    expect(await copied("open in the tree")).toBe(`bough tree ${id} ${entry} -i`);
    expect(await copied("go on from here")).toBe(`bough go ${id} ${entry} && bough --session ${id}`);
    expect(await copied("link to this entry")).toBe(`${address}${id}#e=${entry}`);
  });

  test("two branches stand side by side, as the command compares them", async () => {
    const ids = await home.withStore(async (store) => {
      const session = await store.openSession(id);
      const [start = ""] = await session.tree.outline().then((rows) => rows.map((row) => row.id));
      const first = await session.append(userMessage("The first way"));
      await session.moveLeaf(start);
      return [first.id, (await session.append(userMessage("The second way"))).id];
    });
    const page = await open();
    await article(page, "The second way").focus();
    await page.keyboard.press(".");
    await page.getByRole("menuitem", { name: "Compare this branch with" }).press("Enter");
    await page.getByRole("navigation", { name: "Branches" }).getByRole("link", { name: "Reply one" }).click();
    await article(page, "The first way").focus();
    await page.keyboard.press(".");
    await page.getByRole("menuitem", { name: "the marked entry" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Two branches" }).waitFor();
    await page.getByText("Both after Prompt one").waitFor();
    expect(await page.locator('[aria-labelledby="side-B"] article', { hasText: "The first way" }).count()).toBe(1);
    expect(await page.locator('[aria-labelledby="side-A"] article').count()).toBe(1);
    expect(page.url()).toContain(`b=${ids[0]}`);
  });
});

describe("a long session", () => {
  beforeAll(async () => {
    await home.withStore(async (store) => {
      const session = await store.createSession({ id: "long", title: "Long" });
      const entries = Array.from({ length: 4000 }, (_, at) =>
        at % 4 === 0 ? userMessage(`Question ${at}`) : assistantMessage(`Answer ${at}`),
      );
      for (let at = 0; at < entries.length; at += 500) await session.append(entries.slice(at, at + 500));
    });
  });

  test("has only the entries near the screen in the document, wherever a reader goes", async () => {
    const page = await open("long");
    const most = async () => expect(await page.locator("#path article").count()).toBeLessThan(1600);
    await page.keyboard.press("G");
    await page.locator("article:focus", { hasText: "Answer 3999" }).waitFor();
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9, 0.2]) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${share})`);
      await holds(page, "document.elementFromPoint(innerWidth - 300, innerHeight / 2)?.closest('.chunk:not(.empty)') !== null");
      await most();
    }
    await page.fill("#words", '"Question 2000"');
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.keyboard.press("Enter");
    await article(page, "Question 2000").waitFor();
    await page.locator('[role="treeitem"][aria-selected="true"]', { hasText: "Question 2000" }).waitFor();
    await page.locator("#conversation").focus();
    await page.keyboard.press("Escape");
    await article(page, "Question 2000").focus();
    await page.keyboard.press("J");
    await page.locator("article:focus", { hasText: "Question 2004" }).waitFor();
    await most();
  });

  test("shows what did not come while the connection was lost", async () => {
    const context = await browser().newContext({ viewport: { width: 1280, height: 800 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${viewer().address}long`);
    await page.locator('.live[data-state="on"]').waitFor();
    await page.route(/\/(?:events|block|rows|tree)\b/, (route) => route.abort());
    const isHidden = (value: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${value}, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
      );
    // It connects again, as after its stream broke off.
    await isHidden(true);
    await isHidden(false);
    await page.locator('.live[data-state="off"]').waitFor();
    await Promise.all([
      page.waitForEvent("requestfailed", (request) => request.url().includes("/block?")),
      page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)"),
    ]);
    await Promise.all([
      page.waitForEvent("requestfailed", (request) => request.url().includes("/rows?")),
      page.evaluate("document.querySelector('#tree').scrollTop = document.querySelector('#tree').scrollHeight"),
    ]);
    await page.unrouteAll();
    await page.locator('.live[data-state="on"]').waitFor();
    await holds(page, "document.elementFromPoint(innerWidth - 300, innerHeight / 2)?.closest('.chunk:not(.empty)') !== null");
    await holds(page, "document.elementFromPoint(100, innerHeight / 2)?.closest('[role=treeitem]') !== null");
  });

  test("says that the browser's own search finds only a part of it", async () => {
    const page = await open("long");
    await page.keyboard.press("Control+f");
    await page.locator("#said", { hasText: "/ searches the whole session" }).waitFor();
  });

  test("is read without scripts in pieces", async () => {
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}long`, { followed: true, javaScriptEnabled: false });
    await article(page, "Question 0").waitFor();
    // By a key: entries that scroll into view get their height, so that a link can move away from a mouse.
    await page.getByRole("link", { name: "Later entries" }).press("Enter");
    await article(page, "Question 400").waitFor();
    await page.getByRole("link", { name: "Earlier entries" }).press("Enter");
    await article(page, "Question 0").waitFor();
  });
});

describe("axe finds nothing to complain of", () => {
  test.each([
    ["in the session, in light", { colorScheme: "light" as const }],
    ["in the session, in dark", { colorScheme: "dark" as const }],
    ["at the width of a telephone", { viewport: { width: 375, height: 700 } }],
  ])("%s", async (_, options) => {
    const [first = ""] = await write("Start", "Done");
    await home.withStore(async (store) => {
      const session = await store.openSession(id);
      await session.moveLeaf(first);
      await session.append(assistantMessage("Another way"));
    });
    const { address } = viewer();
    const { page } = await openPage(browser(), `${address}${id}`, { followed: true, bypassCSP: true, ...options });
    await page.locator('.live[data-state="on"]').waitFor({ state: "attached" });
    await write("New");
    await article(page, "New").waitFor({ state: "attached" });
    const violations = async () => {
      await page.addScriptTag({ path: AXE });
      return page.evaluate(
        "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]))",
      );
    };
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await violations()).toEqual([]);
    await page.fill("#words", "start");
    await page.locator('[aria-label="Entries with the words"]').waitFor({ state: "attached" });
    expect(await violations()).toEqual([]);
    await page.fill("#words", "");
    await page.locator("#conversation").focus();
    await page.keyboard.press("Control+k");
    expect(await violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await article(page, "New").focus();
    await page.keyboard.press(".");
    await page.getByRole("menu").waitFor();
    expect(await violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator(".fork a.compare").first().click();
    await page.getByRole("heading", { level: 1, name: "Two branches" }).waitFor();
    expect(await violations()).toEqual([]);
    await page.goto(address);
    await page.locator("#sessions > li").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await violations()).toEqual([]);
  });
});
