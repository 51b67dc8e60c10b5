import { readFileSync } from "node:fs";
import { type EntryInput, userMessage } from "@bough/session-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openPage, useBrowser } from "./browser.js";
import { Home } from "./home.js";
import { ask, view } from "./viewer.js";

// Texts that run, load, hide or break out where a page inserts them without care.
const HOSTILE: readonly string[] = [
  ...[
    "<script>ran()</script>",
    "</script><script>ran()</script>",
    "<!-- <script>",
    "-->",
    "<!--<script>ran()//--></script>",
    "]]>",
    "<![CDATA[",
  ],
  ...[
    "<img src=x onerror=ran()>",
    "<svg onload=ran()>",
    "<svg><script>ran()</script></svg>",
    "<iframe srcdoc='<script>parent.ran()</script>'>",
  ],
  ...[
    "</style><script>ran()</script>",
    "<style>*{display:none}</style>",
    "</template><script>ran()</script>",
    "</title><script>ran()</script>",
  ],
  ...[
    "</details></article></main><script>ran()</script>",
    "</pre></code><script>ran()</script>",
    "<base href=//evil.example>",
    "<plaintext>",
  ],
  ...[
    '"><script>ran()</script>',
    "' autofocus onfocus=ran() x='",
    '" style="position:fixed;inset:0" x="',
    "<form id=path><input name=children>",
  ],
  ...["[x](javascript:ran())", "[x](JaVaScRiPt:ran())", "[x](java&#115;cript:ran())", "[x](data:text/html,<script>ran()</script>)"],
  ...[
    "[x](vbscript:ran)",
    "<javascript:ran()>",
    "[x](//evil.example/x)",
    "[x](/etc/passwd)",
    "[x](file:///etc/passwd)",
    "[x]: javascript:ran()\n[x]",
  ],
  ...[
    "![x](https://evil.example/x.png)",
    "![x](javascript:ran())",
    '[x](https://e.example "\\" onmouseover=ran() x=\\"")',
    '[x](https://e.example/"onclick=ran())',
  ],
  ...[
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<object data=x>",
  ],
  ...[
    '```"><script>ran()</script>\nx\n```',
    "```typescript onclick=ran()\nlet a = `</script><script>ran()`;\n```",
    "```diff\n+<script>ran()</script>\n```",
  ],
  ...[
    "| <script>ran()</script> | x |\n|:--|--:|\n| <img src=x onerror=ran()> | y |",
    "&lt;script&gt;ran()&lt;/script&gt;",
    "&#60;script&#62;",
  ],
  ...[
    "url(javascript:ran())",
    "expression(ran())",
    "{{constructor.constructor('ran()')()}}",
    "${ran()}",
    "\u202eevil\u202c",
    "\u2066x\u2069",
    "\ud800",
    "\udc00",
  ],
  ...[
    "\u0000<script\u0000>",
    "\u001b]8;;http://e\u0007",
    "＜script＞ran()＜/script＞",
    "\u2028ran()\u2029",
    "__proto__",
    "constructor",
    "#e=x",
    "<a id=tree>",
  ],
];

const browser = useBrowser();
const home = new Home();
const ALL = HOSTILE.join("\n\n");

/** Hostile texts in every place that an entry has. */
function entriesWith(text: string): readonly EntryInput[] {
  const reply = (content: readonly object[], more: object = {}) =>
    ({ type: "message", message: { role: "assistant", content, ...more } }) as EntryInput;
  const call = (id: string, name: string, args: object) => ({ type: "toolCall", id, name, arguments: args });
  const calls = [
    call("1", text, { [text]: text, nested: { [text]: [text] } }),
    call("2", "edit", { path: text, oldText: `a\n${text}`, newText: `b\n${text}` }),
    call("3", "write", { path: `x.${text}`, content: text }),
    call("4", "bash", { command: text }),
    call("5", "TodoWrite", { todos: [{ content: text, status: "completed" }] }),
    call("6", "apply_patch", { input: `*** Begin Patch\n*** Update File: ${text}\n@@\n-${text}\n+x\n*** End Patch` }),
  ];
  return [
    { type: "model_change", provider: text, modelId: text },
    { type: "thinking_level_change", thinkingLevel: text },
    { type: "message", message: { role: "system", content: text } },
    userMessage(text),
    reply([{ type: "text", text }, { type: "thinking", thinking: text }, ...calls], {
      model: text,
      stopReason: "error",
      errorMessage: text,
    }),
    ...calls.map(
      ({ id }) => ({ type: "message", message: { role: "toolResult", toolCallId: id, toolName: text, content: text } }) as const,
    ),
    { type: "message", message: { role: "bashExecution", command: text, output: text, exitCode: 1 } },
    { type: "custom_message", customType: text, content: text },
    { type: "compaction", summary: text, firstKeptEntryId: null, details: { readFiles: [text], modifiedFiles: [text] } },
    { type: "branch_summary", fromId: null, summary: text, details: { readFiles: [text], modifiedFiles: [text] } },
  ];
}

beforeAll(async () => {
  await home.withStore(async (store) => {
    const session = await store.createSession({ id: "hostile", title: ALL, cwd: `/tmp/${HOSTILE.join("")}` });
    let first: string | undefined;
    for (const [at, text] of [...HOSTILE, ALL].entries()) {
      const ids: string[] = [];
      for (const entry of entriesWith(text)) ids.push((await session.append(entry)).id);
      await session.labels.set(
        ids[3] ?? "",
        text
          .slice(0, 100)
          .toWellFormed()
          .replace(/[\u0000-\u001f]/g, " "),
      );
      first ??= ids[3];
      if (at % 9 === 8 && first !== undefined) await session.moveLeaf(first);
    }
    await session.append({ ...userMessage("with an id"), id: `"><script>ran()</script>` });
    await session.append(userMessage("x".repeat(1_000_000)));
    await session.append({
      type: "message",
      message: { role: "user", content: [{ type: "image", mimeType: "image/svg+xml", data: "PHN2Zy8+" }] },
    });
  });
}, 240_000);

describe("the page of a session whose texts attack it", () => {
  test("runs none of them, loads nothing and keeps its shape", async () => {
    const { page } = await openPage(browser(), home.page("hostile", "--thinking"));
    await page.locator("html.script").waitFor();
    // Everything that could run is opened, shown and searched.
    await page.evaluate(
      `for (const row of document.querySelectorAll(".row.head")) { row.click(); for (const fold of document.querySelectorAll("details")) fold.open = true; }`,
    );
    await page.fill("#words", "<script>ran()");
    await page.keyboard.press("Enter");
    await page.locator("#found", { hasText: / of / }).waitFor();
    const found = await page.evaluate(`({
      elements: [...new Set([...document.querySelectorAll("*")].map((element) => element.localName))].sort().join(" "),
      handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => /^on|^style$|^srcdoc$/.test(name))).length,
      addresses: [...new Set([...document.querySelectorAll("[href], [src]")].map((element) => (element.getAttribute("href") ?? element.getAttribute("src")).replace(/^(#e=|[a-z]+:).*/s, "$1")))].sort(),
      images: document.images.length,
      ids: document.querySelectorAll("#tree, #path, #conversation, #words").length,
      ran: typeof globalThis.ran,
    })`);
    expect(found).toEqual({
      elements: expect.not.stringMatching(/\b(?:iframe|object|embed|base|link|svg|math|form|plaintext|video|audio)\b/),
      handlers: 0,
      addresses: ["#conversation", "#e=", "#tree", "http:", "https:"],
      images: 0,
      ids: 4,
      ran: "undefined",
    });
  });

  test("has no script, style or policy but its own", () => {
    const text = readFileSync(home.path("hostile.html"), "utf8");
    expect(text.match(/<script/gi)?.length).toBe(text.match(/<script>(?:"use strict";)?\(\(\)=>\{/g)?.length);
    expect(text.match(/<style/gi)?.length).toBe(1);
    expect(text.match(/http-equiv/gi)?.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0000]/);
  });

  test("is an address that a link with any id leads to", async () => {
    const { page } = await openPage(browser(), `${home.path("hostile.html")}#e=${encodeURIComponent('"><script>ran()</script>')}`);
    await page.locator("article:focus", { hasText: "with an id" }).waitFor();
    await page.goto(`${page.url().split("#")[0]}#e=%E0%A4%A`);
    await page.goto(`${page.url().split("#")[0]}#e=<script>ran()</script>`);
    await page.locator("html.script").waitFor();
  });
});

describe("the server of a session whose texts attack it", () => {
  test("runs none of them in the page, the list, the search, the tree and the comparison", async () => {
    const { address } = await view(home, ["--thinking"]);
    const { page } = await openPage(browser(), `${address}hostile`, { followed: true });
    await page.locator('.live[data-state="on"]').waitFor();
    await page.fill("#words", "ran()");
    await page.locator("#found", { hasText: "found" }).waitFor();
    await page.locator("details.hits summary").click();
    await page.keyboard.press("O");
    await page.evaluate(
      `for (const row of document.querySelectorAll(".row.head")) row.click(); for (const fold of document.querySelectorAll("details")) fold.open = true;`,
    );
    // Each of the rows leads to its entry, which takes the focus when it is there: a key could go to an entry instead of the field.
    await page.evaluate(`document.querySelector("#next").click()`);
    await page.locator("#found", { hasText: / of / }).waitFor();
    await home.withStore(async (store) => void (await (await store.openSession("hostile")).append(userMessage(ALL))));
    await page.locator(".pill").waitFor({ state: "attached" });
    expect(await inspect(page)).toEqual(HARMLESS);
    await page.goto(`${address}?q=${encodeURIComponent("ran()")}`);
    await page.locator(".hits a").first().waitFor();
    expect(await inspect(page)).toEqual(HARMLESS);
    await page.goto(`${address}hostile`);
    await page.locator(".fork a.compare").first().click();
    await page.getByRole("heading", { level: 1, name: "Two branches" }).waitFor();
    expect(await inspect(page)).toEqual(HARMLESS);
  });

  test("answers names and numbers that attack it as it answers others", async () => {
    const { address } = await view(home);
    for (const text of ["../../etc/passwd", "<script>ran()</script>", "%00", "-1", "1e9", "x".repeat(5000), "constructor", "__proto__"])
      for (const part of [
        "state?tip=",
        "where?e=",
        "block?tip=x&from=0&to=",
        "rows?chunk=0&line=",
        "tree?line=",
        "find?q=",
        "compare?b=x&a=",
        "prompt?row=",
      ]) {
        const { status, headers, body } = await ask(`${address}hostile/${part}${encodeURIComponent(text)}`);
        expect([200, 404]).toContain(status);
        expect(headers["x-content-type-options"]).toBe("nosniff");
        if (String(headers["content-type"]).startsWith("text/html")) expect(body).not.toContain("<script>ran");
      }
  });
});

const inspect = (page: Page) =>
  page.evaluate(`({
    elements: [...new Set([...document.querySelectorAll("body *")].map((element) => element.localName))].sort().join(" "),
    handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => /^on|^srcdoc$/.test(name))).length,
    addresses: [...document.querySelectorAll("[href], [src]")].map((element) => element.getAttribute("href") ?? element.getAttribute("src")).filter((to) => !/^(#|\\/[\\w-]{32}\\/|https?:|mailto:|data:,|\\?)/.test(to)),
    images: document.images.length,
    ran: typeof globalThis.ran,
  })`);

const HARMLESS = {
  elements: expect.not.stringMatching(/\b(?:iframe|object|embed|base|link|svg|math|plaintext|video|audio|style)\b/),
  handlers: 0,
  addresses: [],
  images: 0,
  ran: "undefined",
};
