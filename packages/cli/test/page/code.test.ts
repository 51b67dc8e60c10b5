import { viewCall } from "@bough/session-core/view";
import { describe, expect, test } from "vitest";
import { callHtml } from "../../src/page/call.js";
import { changeHtml, patchHtml } from "../../src/page/code.js";
import { NO_MASKS } from "../../src/page/content.js";
import { Folds } from "../../src/page/folds.js";

describe("a change in a page", () => {
  test("counts a line that itself begins with signs", () => {
    const { shown, added, removed } = changeHtml("-- the old rule\nSELECT 1;", "++ the new rule\nSELECT 1;");
    expect([added, removed]).toEqual([1, 1]);
    expect(shown.text).toBe('<pre class="diff"><del>--- the old rule</del><ins>+++ the new rule</ins><span> SELECT 1;</span></pre>');
  });

  test("has a header before each further hunk", () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
    const after = lines.map((line, at) => (at === 2 || at === 30 ? `${line}!` : line));
    expect(changeHtml(lines.join("\n"), after.join("\n")).shown.text.match(/<span class="place">[^<]*/g)).toEqual([
      '<span class="place">@@ -28,7 +28,7 @@',
    ]);
  });
});

test("a patch has headers, and inside a hunk only the sign of a line counts", () => {
  const patch = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- the old rule\n+++ the new rule\n SELECT 1;\n";
  expect(patchHtml(patch).text).toBe(
    '<pre class="diff"><span class="place">--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@</span><del>--- the old rule</del><ins>+++ the new rule</ins><span> SELECT 1;</span></pre>',
  );
});

test.each([
  ["", "+0"],
  ["one", "+1"],
  ["one\ntwo\n", "+2"],
])("a call that writes %j says that it adds %s lines", (content, size) => {
  const call = viewCall({ type: "toolCall", id: "call", name: "write", arguments: { path: "a.ts", content } }, null);
  const shown = { thinking: false, toolOutput: "full", masks: NO_MASKS, folds: new Folds() } as const;
  expect(callHtml(call, shown).text).toContain(`<span class="size">${size}</span>`);
});
