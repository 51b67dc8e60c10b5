import { createRequire } from "node:module";
import { crc32, deflateSync } from "node:zlib";
import { assistantMessage, toolResult, userMessage } from "@bough/session-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { holds, openPage, useBrowser } from "./browser.js";
import { Home, SAMPLE } from "./home.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const browser = useBrowser();
const home = new Home();
let file = "";

beforeAll(() => {
  home.bough("import", SAMPLE);
  file = home.page("demo-lexer-tabs");
});

const focused = (page: Page) => page.evaluate("document.activeElement.textContent.replace(/\\s+/g, ' ').trim()");
const article = (page: Page, text: string) => page.locator("#path article", { hasText: text });

/** A black image, one pixel high, as base64. */
function png(width: number): string {
  const chunk = (name: string, data: Buffer) => {
    const [length, sum, body] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.concat([Buffer.from(name), data])];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width);
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  const pixels = deflateSync(Buffer.alloc(width + 1));
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]).toString("base64");
}

describe("the page of a session", () => {
  test("shows the path of the leaf; a branch of the tree shows another one, and back", async () => {
    const { page } = await openPage(browser(), file);
    await page.getByRole("heading", { level: 1, name: "Tabs in the lexer" }).waitFor();
    expect(await page.locator("#path article").count()).toBe(15);
    const head = page.getByRole("treeitem", { name: "Try the regular expression." });
    expect(await head.getAttribute("aria-expanded")).toBe("false");
    await head.click();
    await article(page, "Try the regular expression.").waitFor();
    expect(await head.getAttribute("aria-expanded")).toBe("true");
    expect(await article(page, "Too slow. Go back and use the table.").count()).toBe(0);
    await page.getByRole("treeitem", { name: "Too slow. Go back" }).click();
    await article(page, "Too slow. Go back and use the table.").waitFor();
    expect(await page.locator("#path article").count()).toBe(15);
  });

  test("fits the images of a tool into its width", async () => {
    await home.withStore(async (store) => {
      const session = await store.createSession({ id: "images" });
      const call = { type: "toolCall", id: "c1", name: "screenshot", arguments: {} } as const;
      const image = { type: "image", mimeType: "image/png", data: png(4000) } as const;
      await session.append([userMessage("Look"), assistantMessage([call]), toolResult("c1", [image])]);
    });
    const { page } = await openPage(browser(), home.page("images"));
    await page.locator("details.call > summary").click();
    await page.locator("details.call img").waitFor();
    await page.evaluate("document.images[0].decode()");
    expect(await page.evaluate("document.images[0].getBoundingClientRect().right <= innerWidth")).toBe(true);
  });

  test("says at a branch point which branches leave it, and which one is shown", async () => {
    const { page } = await openPage(browser(), file);
    const fork = page.getByRole("navigation", { name: "Branches" });
    expect(await fork.locator("a").count()).toBe(2);
    expect(await fork.locator("a[aria-current]").textContent()).toContain("The regular expression");
    await fork.getByRole("link", { name: "Try the regular expression." }).click();
    expect(await fork.locator("a[aria-current]").textContent()).toBe("Try the regular expression.");
  });

  test("opens at the entry of its address, on the branch of that entry", async () => {
    const [hit] = (JSON.parse(home.bough("search", '"Try the regular expression"', "--json")) as { hits: { entryId: string }[] }).hits;
    const { page } = await openPage(browser(), `${file}#e=${hit?.entryId}`);
    await page.locator("article:focus", { hasText: "Try the regular expression." }).waitFor();
    expect(await page.locator('[role="treeitem"][aria-selected="true"]').textContent()).toContain("Try the regular expression.");
    const link = article(page, "Try the regular expression.").getByRole("link", { name: "Link to this entry" });
    expect(await link.getAttribute("href")).toBe(`#e=${hit?.entryId}`);
  });

  test("finds a part of a word in folded output and on other branches, and counts", async () => {
    const { page } = await openPage(browser(), file);
    const fold = page.locator("details.call", { hasText: "read" }).first();
    expect(await fold.getAttribute("open")).toBeNull();
    await page.fill("#words", "kipped");
    await page.locator("#found", { hasText: /^\d+ found$/ }).waitFor();
    const total = Number.parseInt((await page.locator("#found").textContent()) ?? "", 10);
    const places = new Set<unknown>();
    for (let at = 0; at < total; at += 1) {
      const before = await page.locator("#found").textContent();
      await page.keyboard.press("Enter");
      await page.locator("#found", { hasText: ` of ${total}`, hasNotText: before ?? "" }).waitFor();
      places.add(await page.locator("#found").textContent());
      await holds(page, "CSS.highlights.has('hit-now')");
      expect(await page.evaluate("[...CSS.highlights.get('hit-now')].map(String).join().toLowerCase()")).toBe("kipped");
    }
    expect(places.size).toBe(total);
    expect(total).toBeGreaterThan(1);
    await page.fill("#words", "axolotl");
    await page.locator("#found", { hasText: "Nothing found" }).waitFor();
  });

  test("goes from the last match on if a person begins with the previous one", async () => {
    const { page } = await openPage(browser(), file);
    await page.fill("#words", "kipped");
    await page.locator("#found", { hasText: /^\d+ found$/ }).waitFor();
    const total = Number.parseInt((await page.locator("#found").textContent()) ?? "", 10);
    await page.getByRole("button", { name: "Previous match" }).click();
    await page.locator("#found", { hasText: `${total} of ${total}` }).waitFor();
  });

  test("reads a query as the command does", async () => {
    const { page } = await openPage(browser(), file);
    const marked = () => page.evaluate("[...new Set([...CSS.highlights.get('hit')].map((range) => String(range).toLowerCase()))].sort()");
    // A question: without its stop words, in all forms.
    await page.fill("#words", "why are the expressions tried?");
    await page.locator("#found", { hasText: /^\d+ found$/ }).waitFor();
    await page.keyboard.press("Enter");
    await holds(page, "CSS.highlights.has('hit-now')");
    expect(await marked()).toEqual(["expression", "tried"]);
    // A path with other characters between its words.
    await page.fill("#words", "src\\lexer.ts");
    await page.locator("#found", { hasText: "found, other characters between the words" }).waitFor();
    await page.fill("#words", "lexer axolotl zebrafish");
    await page.locator("#found", { hasText: "found, with 1 of 3 words" }).waitFor();
    await page.fill("#words", "/a+$/");
    await page.locator("#found", { hasText: "Expressions are for bough search" }).waitFor();
    await page.fill("#words", "role:user lexer");
    await page.locator("#found", { hasText: "with 1 of 2 words" }).waitFor();
    await page.fill("#words", "role:user");
    await page.locator("#found", { hasText: "filters are for bough view" }).waitFor();
  });

  test("opens the fold that a match stands in", async () => {
    const { page } = await openPage(browser(), file);
    await page.fill("#words", '"export function"');
    await page.keyboard.press("Enter");
    await page.locator("#found", { hasText: "1 of" }).waitFor();
    // The match is marked in the frame after the one in which it is counted.
    await holds(page, "CSS.highlights.has('hit-now')");
    const isVisible = "[...CSS.highlights.get('hit-now')][0].startContainer.parentElement.checkVisibility()";
    expect(await page.evaluate(isVisible)).toBe(true);
  });

  test("folds tool calls, shows a change in colors, and highlights code when it is shown", async () => {
    const { page } = await openPage(browser(), file);
    expect(await page.locator("pre.diff ins").first().isVisible()).toBe(true);
    const read = page.locator("details.call", { hasText: "src/lexer.ts" }).first();
    await read.locator("summary").click();
    await read.locator(".hljs-keyword").first().waitFor();
  });

  test("leaves the rest of a code without colors whose grammar takes long, and colors the next one", async () => {
    const slow = `${"func a".repeat(3_400)}\nint x;`;
    await home.withStore(async (store) => {
      const session = await store.createSession({ id: "slow", title: "Slow" });
      await session.append(assistantMessage(`Two of them:\n\n\`\`\`c\n${slow}\n\`\`\`\n\n\`\`\`c\nint y;\n\`\`\`\n`));
    });
    const { page } = await openPage(browser(), home.page("slow"));
    const code = page.locator("pre.code");
    await code.nth(1).locator(".hljs-type", { hasText: "int" }).waitFor();
    expect(await code.nth(0).locator(".hljs-type", { hasText: "int" }).count()).toBe(0);
    expect(await code.nth(0).textContent()).toBe(slow);
  });

  test("is read and left by the keyboard alone", async () => {
    const { page } = await openPage(browser(), file);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const second = await focused(page);
    await page.keyboard.press("k");
    expect(await focused(page)).not.toBe(second);
    await page.keyboard.press("/");
    await page.keyboard.type("lexer");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    const first = (await page.locator("#found").textContent()) ?? "";
    await page.keyboard.press("n");
    await page.locator("#found", { hasText: / of /, hasNotText: first }).waitFor();
    await page.keyboard.press("p");
    await page.locator("#found", { hasText: first }).waitFor();
    await page.keyboard.press("t");
    await page.keyboard.press("Home");
    for (let at = 0; at < 5; at += 1) await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toContain("Try the regular expression.");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.locator("article:focus", { hasText: "Try the regular expression." }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Actions and keys" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog[open]").count()).toBe(0);
  });

  test("lets a person switch single keys off", async () => {
    const { page } = await openPage(browser(), file);
    await page.keyboard.press("?");
    await page.getByRole("checkbox").uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.keyboard.press("/");
    expect(await page.locator("#words:focus").count()).toBe(0);
  });

  test("is light or dark as the system says, or as the switch says", async () => {
    const { page } = await openPage(browser(), file, { colorScheme: "dark" });
    const back = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await back();
    await page.getByRole("button", { name: "Theme: auto" }).click();
    expect(await back()).not.toBe(dark);
    await page.getByRole("button", { name: "Theme: light" }).click();
    expect(await back()).toBe(dark);
  });

  test("can be read without its script", async () => {
    const { page } = await openPage(browser(), file, { javaScriptEnabled: false });
    expect(await page.getByRole("heading", { name: "User" }).count()).toBeGreaterThan(2);
    await page.getByRole("treeitem", { name: "Too slow. Go back" }).click();
    expect(page.url()).toContain("#e=");
    expect(await page.locator("#search").isVisible()).toBe(false);
  });

  test("prints the folds as they are on the screen, without the tree", async () => {
    const { page } = await openPage(browser(), file);
    await page.locator("details.call", { hasText: "npm test" }).first().locator("summary").click();
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#tree").isVisible()).toBe(false);
    expect(await page.locator("details.call", { hasText: "npm test" }).first().locator("pre").first().isVisible()).toBe(true);
    expect(await page.locator("details.call:not([open]) pre").first().isVisible()).toBe(false);
  });

  test("fits a telephone: the tree is a drawer, nothing is wider than the screen", async () => {
    const { page } = await openPage(browser(), file, { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    const gaps = () =>
      page.evaluate<number[]>(`(() => {
        const shown = [...document.querySelectorAll("#bar :is(a, button, input, select)")].filter((one) => one.checkVisibility());
        const boxes = shown.map((one) => one.getBoundingClientRect()).sort((a, b) => a.left - b.left);
        return boxes.slice(1).map((box, at) => box.left - boxes[at].right);
      })()`);
    expect(Math.min(...(await gaps()))).toBeGreaterThanOrEqual(0);
    await page.locator("#words").fill("table");
    await page.getByRole("button", { name: "Next match" }).waitFor();
    expect(Math.min(...(await gaps()))).toBeGreaterThanOrEqual(0);
    await page.locator("#words").fill("");
    const tree = page.getByRole("tree");
    expect(await tree.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Tree" }).tap();
    await tree.waitFor();
    await page.getByRole("treeitem", { name: "Try the regular expression." }).tap();
    await article(page, "Try the regular expression.").waitFor();
    expect(await tree.isVisible()).toBe(false);
  });
});

describe("axe finds nothing to complain of", () => {
  const PHONE = { viewport: { width: 375, height: 700 } };
  test.each([
    ["in light", { colorScheme: "light" as const }],
    ["in dark", { colorScheme: "dark" as const }],
    ["at the width of a telephone", PHONE],
  ])("%s", async (_, options) => {
    const { page } = await openPage(browser(), file, { ...options, bypassCSP: true });
    await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    await page.keyboard.press("O");
    if (options === PHONE) await page.getByRole("button", { name: "Tree" }).click();
    await page.addScriptTag({ path: AXE });
    const violations = await page.evaluate(
      "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]))",
    );
    expect(violations).toEqual([]);
  });
});

describe("what is in a page", () => {
  test("secrets are masked and private commands left out, unless they are asked for", async () => {
    const key = `sk-ant-api03-${"a1B2c3D4e5".repeat(9)}-AA`;
    await home.withStore(async (store) => {
      const session = await store.createSession({ id: "private", title: `The key ${key}` });
      await session.append(userMessage(`Use ${key}.`));
      await session.append({
        type: "message",
        message: { role: "bashExecution", command: "cat diary", output: "dear diary", excludeFromContext: true },
      });
      await session.append(assistantMessage("I have it."));
    });
    const masked = await openPage(browser(), home.page("private"));
    const text = await masked.page.content();
    expect(text).not.toContain(key.slice(13, 40));
    expect(text).not.toContain("diary");
    expect(await masked.page.locator("#closing").textContent()).toMatch(/Left out of this page: 1 command kept out.*1 secret masked/s);
    const whole = await openPage(browser(), home.page("private", "--private", "--with-secrets"));
    expect(await whole.page.content()).toContain(key);
    expect(await whole.page.content()).toContain("dear diary");
  });

  test("--branch exports that branch alone", async () => {
    const { page } = await openPage(browser(), home.page("demo-lexer-tabs", "--branch", "two ways"));
    expect(await page.locator("#tree .row.head").count()).toBe(0);
    expect(await page.content()).not.toContain("Too slow. Go back");
  });

  test("a link to an entry that has nothing to read leads to the next one", async () => {
    const id = await home.withStore(async (store) => {
      const session = await store.createSession({ id: "marks", title: "Marks" });
      await session.append(userMessage("Before."));
      const mark = await session.append({ type: "custom", customType: "mark", data: 1 });
      await session.append(userMessage("After."));
      return mark.id;
    });
    const { page } = await openPage(browser(), `${home.page("marks")}#e=${id}`);
    await page.locator("article:focus", { hasText: "After." }).waitFor();
    expect(await page.locator("#closing").textContent()).toContain("1 custom entry");
  });
});
