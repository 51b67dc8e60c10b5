import { describe, expect, test } from "vitest";
import type { PathItem } from "../../src/plan/span.js";
import { type PrunePlan, planPrune } from "../../src/prune/plan-prune.js";
import { readSettings } from "../../src/settings/read-settings.js";
import type { SettingsInput } from "../../src/settings/settings.js";
import { called, item, next, prompt, read, sized } from "./path.js";

type Given = NonNullable<SettingsInput["prune"]>;

/** By default nothing is old or too small, and any saving suffices. */
const EAGER: Given = { minSavingsTokens: 0, protectTokens: 1_000_000, cacheSuffixTokens: 1_000_000 };

function planned(items: readonly (readonly PathItem[])[], given: Given = {}, idle = false): PrunePlan {
  return planPrune({ items: items.flat(), settings: readSettings({ prune: { ...EAGER, ...given } }).prune, idle });
}

/** The pruned entries and the reasons, on one line. */
function shown({ edits }: PrunePlan): string {
  return edits.map(({ targetId, because }) => `${targetId} ${because}`).join(", ");
}

describe("the age of tool output", () => {
  const turns = [prompt("u1"), called(1), called(2), called(3), next("u2")];
  // A result of 1,000 characters is 1,012 tokens here: four for the message, eight for the result.

  test.each<[string, Given, string]>([
    ["the newest stays, up to so many tokens", { protectTokens: 2_024 }, "r1 age"],
    ["one that does not fit whole is old", { protectTokens: 2_023 }, "r1 age, r2 age"],
    ["0: nothing is protected", { protectTokens: 0 }, "r1 age, r2 age, r3 age"],
    ["all of it fits", { protectTokens: 3_036 }, ""],
    ["nothing goes where too little is saved", { protectTokens: 2_024, minSavingsTokens: 1_000 }, ""],
    ["it goes where enough is saved in all", { protectTokens: 1_012, minSavingsTokens: 1_900 }, "r1 age, r2 age"],
    ["the provider's cache does not matter to it", { protectTokens: 2_024, cacheSuffixTokens: 0 }, "r1 age"],
  ])("%s", (_name, given, expected) => {
    expect(shown(planned(turns, given))).toBe(expected);
  });

  test("output of the running turn is pruned like any other, except results that the model has not read", () => {
    const items = [prompt("u1"), called(1), called(2), called(3)];
    expect(shown(planned(items, { protectTokens: 0 }))).toBe("r1 age, r2 age");
    expect(shown(planned(items, { protectTokens: 1_012 }))).toBe("r1 age, r2 age");
    expect(shown(planned(items, { protectTokens: 2_024 }))).toBe("r1 age");
  });

  test.each<[string, PathItem]>([
    ["a prompt", item("u9", { role: "user", content: "stop that" })],
    ["a host's message", item("n9", { role: "custom", customType: "note", content: "note" })],
    ["a command", item("s9", { role: "bashExecution", command: "ls", output: "" })],
  ])("%s behind results says nothing of whether the model has read them", (_name, said) => {
    expect(shown(planned([called(1), called(2), [said]], { protectTokens: 0 }))).toBe("r1 age");
  });

  test("the placeholder has the number of tokens, in pi's form", () => {
    const [edit] = planned(turns, { protectTokens: 2_024 }).edits;
    expect(edit?.replacement).toEqual({ content: "[Output truncated - 1012 tokens]" });
  });

  test("results of fewer than 50 tokens stay", () => {
    const small = [prompt("u1"), called(1, { size: 37 }), called(2, { size: 38 }), next("u2")];
    expect(shown(planned(small, { protectTokens: 0 }))).toBe("r2 age");
  });

  test("what was pruned already stays as it is", () => {
    const line = "[Output truncated - 90000 tokens; a later read has src/store/folders.ts]";
    expect(shown(planned([prompt("u1"), called(1, { text: line }), next("u2")], { protectTokens: 0 }))).toBe("");
  });

  test("a line that would be no smaller than the result is not put there", () => {
    const twice = (path: string) => [prompt("u1"), read(1, path, {}, { size: 50 }), read(2, path, {}, { size: 50 }), next("u2")];
    expect(shown(planned(twice("a.ts")))).toBe("r1 superseded");
    expect(shown(planned(twice(`src/${"nested/".repeat(9)}a.ts`)))).toBe("");
  });

  test("oh-my-pi's: 40,000 newest stay, 20,000 must be won", () => {
    const many = (count: number) => [prompt("u1"), ...Array.from({ length: count }, (_one, n) => called(n, { size: 9_988 })), next("u2")];
    const plan = (count: number) => planPrune({ items: many(count).flat(), settings: readSettings("oh-my-pi").prune, idle: false });
    // 10,000 tokens each: of six, four stay, and two bring a little less than 20,000; of seven, three bring enough.
    expect(plan(6).edits).toEqual([]);
    expect(shown(plan(7))).toBe("r0 age, r1 age, r2 age");
  });

  test("stops, oldest first, once the wanted tokens are saved", () => {
    const items = [prompt("u1"), ...Array.from({ length: 7 }, (_one, n) => called(n, { size: 9_988 })), next("u2")].flat();
    const plan = (wantedTokens: number) => planPrune({ items, settings: readSettings("oh-my-pi").prune, idle: false, wantedTokens });
    expect(shown(plan(19_000))).toBe("");
    expect(shown(plan(19_950))).toBe("r0 age, r1 age, r2 age");
    expect(plan(-1).edits).toEqual([]);
  });
});

describe("protected tools", () => {
  test.each<[string, readonly PathItem[]]>([
    ["the tool `skill`", called(1, { tool: "skill" })],
    ["in any capitals", called(1, { tool: "Skill" })],
    ["the file of a skill that was read", read(1, "/home/me/.skills/pdf/SKILL.md")],
    ["also by a tool of another agent", called(1, { tool: "Read", with: { file_path: "skills\\pdf\\SKILL.md" } })],
    ["also in part", read(1, "SKILL.md", { offset: 10 })],
  ])("%s stays", (_name, call) => {
    expect(shown(planned([prompt("u1"), call, next("u2")], { protectTokens: 0 }))).toBe("");
  });

  test.each<[string, readonly PathItem[]]>([
    ["a file that is only named like one", read(1, "docs/NOSKILL.md")],
    ["a search that names one", called(1, { tool: "grep", with: { path: "SKILL.md" } })],
  ])("%s goes", (_name, call) => {
    expect(shown(planned([prompt("u1"), call, next("u2")], { protectTokens: 0 }))).toBe("r1 age");
  });

  test("are those of the settings", () => {
    const items = [prompt("u1"), called(1, { tool: "todo" }), read(2, "SKILL.md"), next("u2")];
    expect(shown(planned(items, { protectTokens: 0, protectedTools: ["todo"] }))).toBe("r2 age");
  });

  test("stay also where a later result is the same", () => {
    const items = [prompt("u1"), read(1, "SKILL.md"), read(2, "SKILL.md"), next("u2")];
    expect(shown(planned(items))).toBe("");
  });
});

describe("files that were read again", () => {
  const later = (first: readonly PathItem[], second: readonly PathItem[]) => [prompt("u1"), first, next("u2"), second, next("u3")];

  test.each<[string, readonly PathItem[], readonly PathItem[], string]>([
    ["the whole file twice", read(1, "a.ts"), read(2, "a.ts"), "r1 superseded"],
    ["a part, then the whole file", read(1, "a.ts", { offset: 5, limit: 9 }), read(2, "a.ts"), "r1 superseded"],
    ["the same part twice", read(1, "a.ts", { offset: 5, limit: 9 }), read(2, "a.ts", { limit: 9, offset: 5 }), "r1 superseded"],
    ["two parts", read(1, "a.ts", { offset: 5 }), read(2, "a.ts", { offset: 6 }), ""],
    ["the whole file, then a part", read(1, "a.ts"), read(2, "a.ts", { offset: 5 }), ""],
    ["two files", read(1, "a.ts"), read(2, "b.ts"), ""],
    ["one that failed, then one that did not", read(1, "a.ts", {}, { isError: true }), read(2, "a.ts"), "r1 superseded"],
    ["one, then one that failed", read(1, "a.ts"), read(2, "a.ts", {}, { isError: true }), ""],
    ["arguments that say nothing", read(1, "a.ts", { offset: null }), read(2, "./a.ts", { limit: "", all: false }), "r1 superseded"],
    ["the same part behind the path (oh-my-pi)", read(1, "a.ts:5-9"), read(2, "a.ts:5-9"), "r1 superseded"],
    ["a part behind the path, then the whole file", read(1, "a.ts:5-9"), read(2, "a.ts"), "r1 superseded"],
    ["the whole file, then a part behind the path", read(1, "a.ts"), read(2, "a.ts:5-9"), ""],
    ["a tool of Claude Code", called(1, { tool: "Read", with: { file_path: "a.ts" } }), read(2, "a.ts"), "r1 superseded"],
    ["a tool of VS Code", called(1, { tool: "read_file", with: { filePath: "a.ts" } }), read(2, "a.ts"), "r1 superseded"],
    ["a tool over MCP", called(1, { tool: "mcp__fs__view_file", with: { path: "a.ts" } }), read(2, "a.ts"), "r1 superseded"],
    [
      "the view of an editor",
      called(1, { tool: "str_replace_based_edit_tool", with: { command: "view", path: "a.ts" } }),
      read(2, "a.ts"),
      "r1 superseded",
    ],
    [
      "an edit is no read",
      called(1, { tool: "str_replace_based_edit_tool", with: { command: "create", path: "a.ts" } }),
      read(2, "a.ts"),
      "",
    ],
    ["nor is a write", read(1, "a.ts"), called(2, { tool: "write", with: { path: "a.ts" } }), ""],
    ["a search is none", called(1, { tool: "grep", with: { path: "a.ts" } }), read(2, "a.ts"), ""],
    ["several files at once are none", called(1, { tool: "read", with: { paths: ["a.ts"] } }), read(2, "a.ts"), ""],
    [
      "a part, then a whole that its tool cut",
      read(1, "a.ts", { offset: 5_000 }),
      read(2, "a.ts", {}, { details: { truncation: { truncated: true } } }),
      "",
    ],
    [
      "two wholes that their tool cut",
      read(1, "a.ts", {}, { details: { truncated: true } }),
      read(2, "a.ts", {}, { details: { truncated: true } }),
      "r1 superseded",
    ],
  ])("%s", (_name, first, second, expected) => {
    expect(shown(planned(later(first, second)))).toBe(expected);
  });

  test("an edit in between does not matter", () => {
    const items = [prompt("u1"), read(1, "a.ts"), called(2, { tool: "edit", with: { path: "a.ts" } }), read(3, "a.ts"), next("u2")];
    expect(shown(planned(items))).toBe("r1 superseded");
  });

  test("a read in the newest turn takes the place of older ones", () => {
    expect(shown(planned([prompt("u1"), read(1, "a.ts"), prompt("u2"), read(2, "a.ts")]))).toBe("r1 superseded");
  });

  test("so does a later read within the same turn, also one that the model has not seen yet", () => {
    expect(shown(planned([prompt("u1"), read(1, "a.ts"), read(2, "a.ts")]))).toBe("r1 superseded");
  });

  test("the placeholder names the file", () => {
    const [edit] = planned(later(read(1, "src/a.ts"), read(2, "src/a.ts"))).edits;
    expect(edit?.replacement.content).toBe("[Output truncated - 1012 tokens; a later read has src/a.ts]");
  });

  test("on one safe line, for any path", () => {
    const path = `src/\u001b[31m\n${"😀".repeat(100)}.ts`;
    const content = planned(later(read(1, path), read(2, path))).edits[0]?.replacement.content ?? "";
    expect(content).toMatch(/^\[Output truncated - 1012 tokens; a later read has src\/[^\n\u001b]*…\]$/);
    expect(content.isWellFormed()).toBe(true);
  });

  test("refers to no read that is pruned for its age", () => {
    const items = [prompt("u1"), read(1, "a.ts"), read(2, "a.ts"), called(3), next("u2")];
    expect(shown(planned(items, { protectTokens: 1_012 }))).toBe("r1 age, r2 age");
  });

  test("nor to one that was pruned before", () => {
    const gone = read(2, "a.ts", {}, { text: "[Output truncated - 500 tokens]" });
    expect(shown(planned(later(read(1, "a.ts"), gone)))).toBe("");
  });

  test("are kept if the setting is off", () => {
    expect(shown(planned(later(read(1, "a.ts"), read(2, "a.ts")), { superseded: false }))).toBe("");
  });
});

describe("results with the same text", () => {
  const text = sized("the same", 300);
  const twice = (first: string, second: string) => [prompt("u1"), called(1, { text: first }), called(2, { text: second }), next("u2")];

  test.each<[string, string, string, Given, string]>([
    ["only the newest stays", text, text, {}, "r1 duplicate"],
    ["one letter makes a difference", text, `${text}.`, {}, ""],
    ["short ones stay", sized("s", 199), sized("s", 199), {}, ""],
    ["200 characters are enough", sized("s", 200), sized("s", 200), {}, "r1 duplicate"],
    ["0: all stay", text, text, { duplicateChars: 0 }, ""],
  ])("%s", (_name, first, second, given, expected) => {
    expect(shown(planned(twice(first, second), given))).toBe(expected);
  });

  test("the earlier one stays if the later one is pruned for another reason", () => {
    const items = [prompt("u1"), called(1, { text }), called(2, { text, details: { useless: true } }), next("u2")];
    expect(shown(planned(items))).toBe("r2 useless");
  });

  test("of three the last stays", () => {
    const items = [prompt("u1"), called(1, { text }), called(2, { text }), called(3, { text }), next("u2")];
    expect(shown(planned(items))).toBe("r1 duplicate, r2 duplicate");
  });

  test("with an image are never the same", () => {
    const content = [{ type: "text", text } as const, { type: "image", data: "AAAA", mimeType: "image/png" } as const];
    expect(shown(planned([prompt("u1"), called(1, { content }), called(2, { content }), next("u2")]))).toBe("");
  });

  test("the placeholder refers to a later result", () => {
    expect(planned(twice(text, text)).edits[0]?.replacement.content).toBe("[Output truncated - 312 tokens; a later result is the same]");
  });
});

describe("useless results", () => {
  const items = [
    prompt("u1"),
    called(1, { details: { useless: true } }),
    called(2, { details: { useless: "yes" } }),
    called(3),
    next("u2"),
  ];

  test("are those that their tool marked", () => {
    expect(shown(planned(items))).toBe("r1 useless");
  });

  test("are kept if the setting is off", () => {
    expect(shown(planned(items, { useless: false }))).toBe("");
  });

  test("take no other result's place", () => {
    const reads = [prompt("u1"), read(1, "a.ts"), read(2, "a.ts", {}, { details: { useless: true } }), next("u2")];
    expect(shown(planned(reads))).toBe("r2 useless");
  });
});

describe("the provider's cache", () => {
  // After r1 follow a call of 4 + 8 + 4 + 2 = 18, its result of 1,012, an answer of 4 + 2 = 6, and a prompt of as many: 1,042 tokens.
  const items = [prompt("u1"), called(1, { details: { useless: true } }), called(2), next("u2")];

  test.each<[string, number, boolean, string]>([
    ["is worth more where more follows", 1_041, false, ""],
    ["is worth less where no more than that follows", 1_042, false, "r1 useless"],
    ["is worth nothing once it is cold", 0, true, "r1 useless"],
  ])("%s", (_name, cacheSuffixTokens, idle, expected) => {
    expect(shown(planned(items, { cacheSuffixTokens }, idle))).toBe(expected);
  });

  test("what follows is counted as it then is", () => {
    const both = [prompt("u1"), called(1, { details: { useless: true } }), called(2, { details: { useless: true } }), next("u2")];
    expect(shown(planned(both, { cacheSuffixTokens: 100 }))).toBe("r1 useless, r2 useless");
  });

  test("aged output is pruned in any case, with the more specific reason", () => {
    const old = [prompt("u1"), read(1, "a.ts"), called(2), read(3, "a.ts"), next("u2")];
    expect(shown(planned(old, { protectTokens: 2_024, cacheSuffixTokens: 0 }))).toBe("r1 superseded");
  });
});
