import type { Entry } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, call, documentOf, linesOutsideCode, path, result, text, user, written } from "./documents.js";
import { nasty } from "./nasty.js";

const words = fc.array(nasty, { minLength: 24, maxLength: 24 });

/** One of each kind of entry, every text of it nasty; six of them fold, and six speakers are headings. */
function entriesOf(w: readonly string[]): Entry[] {
  const at = (index: number): string => w[index] ?? "";
  return path(
    { type: "message", message: { role: "system", content: `s${at(0)}` } },
    user(`u${at(1)}`),
    assistant(
      text(at(2)),
      { type: "thinking", thinking: `t${at(3)}` },
      call("c1", at(4), { path: at(5), oldText: at(6), newText: at(7) }),
      call("c2", "bash", { command: at(8), [`k${at(9)}`]: at(9) }),
      { type: "foreign", originalType: at(10), raw: null },
    ),
    result("c1", `o${at(11)}`, true),
    result("c2", [text(`p${at(12)}`), { type: "image", data: "", mimeType: "image/png" }]),
    { type: "message", message: { role: "bashExecution", command: at(13), output: `q${at(14)}` } },
    { type: "compaction", summary: at(15), firstKeptEntryId: null, details: { readFiles: [at(16)], modifiedFiles: [at(17)] } },
    { type: "branch_summary", summary: at(18), fromId: `e${at(19)}` },
    { type: "model_change", provider: at(20), modelId: at(21) },
    result("stray", `r${at(22)}`),
    { type: "custom_message", customType: at(23), content: at(0) },
    user("the end"),
  );
}

describe("the structure of a document", () => {
  test("is the document's alone, whatever stands in the entries", async () => {
    await fc.assert(
      fc.asyncProperty(words, nasty, nasty, async (w, title, label) => {
        const session = { id: "s1", title: `t${title}`, cwd: label, createdAtMs: 0 };
        const whole = await written(documentOf(entriesOf(w), { session, model: title, labels: new Map([["e11", `l${label}`]]) }), {
          thinking: true,
        });
        const lines = linesOutsideCode(whole);
        expect(lines).not.toContain("<unclosed fence>");
        expect(lines.filter((line) => line.startsWith("# "))).toHaveLength(1);
        expect(lines.filter((line) => line.startsWith("## "))).toHaveLength(6);
        expect(lines.filter((line) => /^<details><summary>[^<]*<\/summary>$/.test(line))).toHaveLength(6);
        expect(lines.filter((line) => line === "</details>")).toHaveLength(6);
        expect(lines.filter((line) => line.includes("<details>") || line.includes("</details>")).every(isOwn)).toBe(true);
        expect(whole).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
        expect(whole.isWellFormed()).toBe(true);
      }),
    );
  });
});

// What an author put into code inside a line is shown, and no tag.
function isOwn(line: string): boolean {
  return line.startsWith("<details>") || line === "</details>" || line.includes("`");
}
