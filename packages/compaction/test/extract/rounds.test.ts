import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { extract } from "../../src/extract/extract.js";
import { ran, said, user } from "./talk.js";

const MAX_CHARS = 3_000;

/** One round of work on file number `at`. */
function round(at: number): readonly ContextMessage[] {
  return [
    user(`Please bring module number ${at} up to date.`),
    ...ran("edit", { path: `src/module-${at}.ts` }, "Edited"),
    ...ran("edit", { path: "src/main.ts" }, "some output that is of no use to anybody at all\n".repeat(80)),
    said(`Module number ${at} is up to date. It uses the new table instead of the old list number ${at}.`),
  ];
}

function carriedOn(rounds: number, first: string | null, maxChars = MAX_CHARS): readonly string[] {
  const extracts: string[] = [];
  for (let at = 0; at < rounds; at += 1) {
    const messages = at === 0 && first === null ? [user("Modernise the compiler. Never drop a test."), ...round(at)] : round(at);
    extracts.push(extract({ messages, kind: "history", previousSummary: extracts.at(-1) ?? first, instructions: null }, { maxChars }));
  }
  return extracts;
}

describe("an extract that is brought up to date ten times", () => {
  const extracts = carriedOn(10, null);
  const last = extracts.at(-1) ?? "";

  test("never grows over its bound, and is still one extract", () => {
    for (const text of extracts) expect(text.length).toBeLessThanOrEqual(MAX_CHARS);
    expect(last.match(/Extracted mechanically/g)).toHaveLength(1);
    expect(last.match(/^## Goal$/gm)).toHaveLength(1);
  });

  test("keeps the first goal and the first rule", () => {
    for (const text of extracts) {
      expect(text).toContain("> Modernise the compiler. Never drop a test.");
      expect(text).toContain("- Never drop a test.");
    }
  });

  test("has the newest of everything", () => {
    expect(last).toContain("> Please bring module number 9 up to date.");
    expect(last).toContain("- [x] Module number 9 is up to date.");
    expect(last).toMatch(/^- src\/: .*\bmodule-9\.ts/m);
  });

  test("adds up how often a file was changed", () => {
    expect(last).toContain("- src/: main.ts (10 changes), ");
  });

  test("gives up old lines before new ones where there is no room for all", () => {
    const narrow = carriedOn(10, null, 1_000).at(-1) ?? "";
    expect(narrow).toContain("module number 9");
    expect(narrow).not.toContain("Module number 1 is");
    expect(narrow).toContain("> Modernise the compiler.");
  });
});

describe("a summary that a model wrote", () => {
  const written = [
    "## Goal",
    "Modernise the compiler.",
    "",
    "## Constraints & Preferences",
    "- Tests stay as they are.",
    "",
    "## Critical Context",
    ...Array.from({ length: 200 }, (_one, at) => `- detail number ${at}`),
    "- The token is in the vault.",
  ].join("\n");
  const extracts = carriedOn(10, written);

  test("gives its goal to the extract, and is quoted without its middle and its headings", () => {
    const first = extracts[0] ?? "";
    expect(first).toContain("## Goal\n\n> Modernise the compiler.");
    expect(first).toContain("## Earlier Summary\n\n**Constraints & Preferences**\n- Tests stay as they are.");
    expect(first).toContain("- detail number 0\n");
    expect(first).toContain("[... the middle of this summary is left out ...]");
    expect(first).not.toContain("- detail number 100\n");
    expect(first).toContain("- The token is in the vault.");
    expect(first.match(/^## Constraints/gm) ?? []).toEqual([]);
  });

  test("is carried on as it was, however often", () => {
    const quoteOf = (text: string) => /## Earlier Summary\n\n([\s\S]*?)\n\n## /.exec(text)?.[1];
    for (const text of extracts) {
      expect(text.length).toBeLessThanOrEqual(MAX_CHARS);
      expect(quoteOf(text)).toBe(quoteOf(extracts[0] ?? ""));
      expect(text).toContain("> Modernise the compiler.");
    }
  });
});

describe("what an extract left open", () => {
  const failing = [
    user("Build it, please, as you did it before."),
    ...ran("bash", { command: "make" }, "fatal: no rule", { failed: true }),
  ];
  const talk = [said("some words that say nothing that anybody needs. ".repeat(60))];
  const first = extract(
    { messages: [...talk, ...failing], kind: "history", previousSummary: null, instructions: null },
    { maxChars: 2_000 },
  );
  const next = (messages: readonly ContextMessage[]) =>
    extract({ messages: [...talk, ...messages], kind: "history", previousSummary: first, instructions: null }, { maxChars: 2_000 });

  test("stays open if its command did not run again", () => {
    expect(first).toContain("### Blocked\n\n- `make` fails: fatal: no rule");
    expect(next([user("Now write the docs for it.")])).toContain("- Not seen fixed: `make`: fatal: no rule");
  });

  test("is fixed when its command ran well since", () => {
    expect(next(ran("bash", { command: "make" }, "ok"))).toContain("- Fixed: `make`: fatal: no rule");
  });
});

describe("a summary of two parts, as after a split turn", () => {
  const history = extract(
    { messages: [user("Modernise the compiler."), ...round(1)], kind: "history", previousSummary: null, instructions: null },
    { maxChars: 2_000 },
  );
  const prefix = extract(
    { messages: round(2).slice(0, 5), kind: "turn-prefix", previousSummary: null, instructions: null },
    { maxChars: 2_000 },
  );
  const separator = "\n\n---\n\n**Turn Context (split turn):**\n\n";
  const next = (previousSummary: string) =>
    extract({ messages: round(3), kind: "history", previousSummary, instructions: null }, { maxChars: MAX_CHARS });

  test("is carried on as one, in the order in which it was", () => {
    const text = next(history + separator + prefix);
    expect(text.match(/Extracted mechanically/g)).toHaveLength(1);
    expect(text).toContain(
      "## Goal\n\n> Modernise the compiler.\n\nThen asked:\n- Please bring module number 1 up to date.\n- Please bring module number 2",
    );
    expect(text).toContain("- src/: main.ts (3 changes), ");
    expect(text).not.toContain("Turn Context");
  });

  test("of which a model wrote the first is quoted where that is, and carried on where it is an extract", () => {
    const text = next(`## Goal\nModernise the compiler.\n\n## Done\n- the parser${separator}${prefix}`);
    expect(text).toContain("> Modernise the compiler.");
    expect(text).toContain("**Done**\n- the parser");
    expect(text).toContain("- Please bring module number 2 up to date.");
    expect(text).toMatch(/^- src\/: .*\bmodule-2\.ts/m);
  });

  test("does not grow when it is split each time", () => {
    let summary = history;
    for (let at = 0; at < 8; at += 1) summary = next(summary) + separator + prefix;
    expect(next(summary).match(/^> Modernise the compiler\.$/gm)).toHaveLength(1);
    expect(next(summary).length).toBeLessThanOrEqual(MAX_CHARS);
  });
});

describe("the summary of a branch among the messages", () => {
  const branch = extract({ messages: round(7), kind: "branch", previousSummary: null, instructions: null }, { maxChars: 1_500 });

  test("is quoted, and is not taken for an extract to be carried on", () => {
    const messages: ContextMessage[] = [
      user("Modernise the compiler."),
      ...round(1),
      { role: "branchSummary", summary: branch, fromId: null },
      ...round(2),
    ];
    const first = extract({ messages, kind: "history", previousSummary: null, instructions: null }, { maxChars: MAX_CHARS });
    const second = extract({ messages: round(3), kind: "history", previousSummary: first, instructions: null }, { maxChars: MAX_CHARS });
    for (const text of [first, second]) {
      expect(text).toContain("## Goal\n\n> Modernise the compiler.");
      expect(text).toContain("**Goal**");
      expect(text.match(/Extracted mechanically/g)).toHaveLength(1);
    }
  });
});
