import type { ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { extract, extractiveSummarizer } from "../../src/extract/extract.js";
import type { SummarySource } from "../../src/summarizers/summarizer.js";
import { ran, said, user } from "./talk.js";

/** So much output that an extract of the talk is far smaller than it. */
const OUTPUT = "a line of output that nobody needs again\n".repeat(400);

function extractOf(messages: readonly ContextMessage[], more: Partial<SummarySource> = {}, maxChars = 8_000): string {
  const bulk = ran("read", { path: "bulk.txt" }, OUTPUT);
  return extract({ messages: [...bulk, ...messages], kind: "history", previousSummary: null, instructions: null, ...more }, { maxChars });
}

const edited = (path = "src/a.ts") => ran("edit", { path }, "Edited");
const made = (failed = false, output = failed ? "make: *** error: no rule" : "ok") => ran("bash", { command: "make" }, output, { failed });

describe("what an extract calls done", () => {
  const done = (...messages: readonly ContextMessage[]) =>
    extractOf([user("Please write the parser."), ...messages])
      .split("\n")
      .filter((line) => line.startsWith("- [x] "));

  test("is a statement about work that did not fail", () => {
    expect(done(...edited(), said("The parser reads tabs."))).toEqual(["- [x] The parser reads tabs."]);
    expect(done(...made(true), ...edited(), ...made(), said("The parser reads tabs."))).toEqual(["- [x] The parser reads tabs."]);
  });

  test.each<[string, readonly ContextMessage[]]>([
    ["nothing was done", [said("The parser is written and all is well.")]],
    ["something was only looked at", [...ran("bash", { command: "cat src/a.ts" }, "x"), said("The parser is written.")]],
    ["something was only searched", [...ran("Grep", { pattern: "x" }, "x"), said("The parser is written.")]],
    ["the edit failed", [...ran("edit", { path: "a.ts" }, "text not found", { failed: true }), said("The parser is written.")]],
    ["the last run of a command failed", [...edited(), ...made(), ...made(true), said("The parser is written.")]],
  ])("is not what was said where %s", (_name, messages) => {
    expect(done(...messages)).toEqual([]);
  });

  test("is not what the person contradicted", () => {
    const talk = [
      ...edited(),
      said("The parser skips tabs."),
      user("no, tabs count as one space"),
      ...edited(),
      said("A tab is one space."),
    ];
    expect(done(...talk)).toEqual(["- [x] A tab is one space."]);
  });

  test.each(["👍", "🎉🎉", "thanks!", "Thank you.", "ok", "great", "danke", "merci"])("is not the answer to %j", (thanks) => {
    const talk = [...edited(), said("The parser reads tabs."), user(thanks), said("Glad that the whole parser works for you now! 🎉")];
    expect(done(...talk)).toEqual(["- [x] The parser reads tabs."]);
    const text = extractOf([user("Please write the parser."), ...talk]);
    expect(text).not.toContain("Glad");
    expect(text).not.toContain(`- ${thanks}`);
    expect(text).toContain("> The parser reads tabs.");
  });

  test("is the result in a command's output", () => {
    expect(done(...ran("bash", { command: "npm test" }, "14 passed"))).toEqual(["- [x] `npm test`: 14 passed"]);
    expect(done(...ran("bash", { command: "git commit -m x" }, "[main 45ffe0a] x\n 1 file changed"))).toEqual([
      "- [x] `git commit -m x`: commit 45ffe0a",
    ]);
  });
});

describe("what an extract calls failed", () => {
  const CODE = 'throw new TypeError("Error: no");\nerror: not one\nfatal: neither\npanic: nor this\nFAIL this\n';

  test.each<[string, readonly ContextMessage[]]>([
    ["cat", ran("bash", { command: "cat src/a.ts" }, CODE)],
    ["grep", ran("bash", { command: "grep -rn Error src | head" }, CODE)],
    ["git diff", ran("bash", { command: "git diff HEAD~1" }, CODE)],
    ["a reader", ran("read", { path: "src/a.ts" }, CODE)],
    ["a search", ran("Grep", { pattern: "Error" }, CODE)],
    ["an edit", ran("edit", { path: "src/a.ts", newText: CODE }, `Edited:\n${CODE}`)],
    ["the person's look", [{ role: "bashExecution", command: "cat src/a.ts", output: CODE, exitCode: 0 }]],
    ["the model's words", [said(`The line "error: not one" is in the code.\n\`\`\`\n${CODE}\`\`\``)]],
  ])("is not what stands in the output of %s", (_name, messages) => {
    expect(extractOf([user("Look at the errors."), ...messages])).not.toMatch(/^## Errors|^### Blocked/m);
  });

  test("output of commands that only read lists nothing unless they failed", () => {
    const line = fc.constantFrom(
      "Error: x",
      "error TS1: y",
      "fatal: z",
      "panic: a",
      "FAILED b",
      "✗ c",
      "Traceback (most recent call last)",
      "ok",
    );
    const output = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join("\n"));
    const call = fc.oneof(
      output.map((text) => ran("read", { path: "src/a.ts" }, text)),
      fc
        .tuple(fc.constantFrom("cat a", "grep -n x a", "git log", "head a | sort", "ls"), output)
        .map(([command, text]) => ran("bash", { command }, text)),
      output.map((text) => ran("glob", { pattern: "*" }, text)),
      output.map((text) => [said(text)]),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
        expect(extractOf([user("Look."), ...calls.flat()])).not.toMatch(/^## Errors|^### Blocked/m);
      }),
      { numRuns: runs(100) },
    );
  });

  test("is listed once, with the more specific line and all commands that have it", () => {
    const failing = "--- FAIL: TestQuotes (0.00s)\n    reader_test.go:31: got 7 fields, want 6\nFAIL\texit status 1";
    const text = extractOf([
      user("Run it."),
      ...ran("bash", { command: "go test ./cmd" }, failing, { failed: true }),
      ...ran("bash", { command: "make test" }, failing, { failed: true }),
    ]);
    expect(text).toContain("- `make test`, `go test ./cmd` fail: --- FAIL: TestQuotes (0.00s) / reader_test.go:31: got 7 fields, want 6\n");
  });
});

describe("what an extract calls decided", () => {
  const decisions = (...messages: readonly ContextMessage[]) =>
    extractOf([user("Repair it."), ...messages])
      .split("## Key Decisions\n\n")[1]
      ?.split("\n\n")[0];
  const because = "The index is missing, so each batch reads the whole table.";

  test("is text beside a successful change", () => {
    expect(decisions(...ran("edit", { path: "a.sql" }, "Edited", { text: because }))).toBe(`- ${because}`);
  });

  test("also in another language, as no words are looked for", () => {
    const german = "Der Index fehlt, deshalb liest jeder Schub die ganze Tabelle.";
    expect(decisions(...ran("edit", { path: "a.sql" }, "Edited", { text: german }))).toBe(`- ${german}`);
  });

  test("is not text beside a read or a failed change", () => {
    expect(decisions(...ran("read", { path: "a.sql" }, "x", { text: because }))).toBeUndefined();
    expect(decisions(...ran("edit", { path: "a.sql" }, "not found", { text: because, failed: true }))).toBeUndefined();
  });

  test("is what the person answered in a word", () => {
    expect(decisions(said("It is ready. Should I drop the old table?"), user("yes"))).toBe("- Should I drop the old table? yes");
  });
});

describe("the person's words", () => {
  const chores = (count: number) =>
    Array.from({ length: count }, (_one, at) => [
      user(`Please look after the chore number ${at} of the long list.`),
      ...edited(`src/${at}.ts`),
      said(`Chore ${at} is done.`),
    ]).flat();

  test.each([
    "no, the block should stay as it is",
    "use fetch instead of the client that you wrote",
    "actually it is the background that does not change",
    "Bitte ab jetzt keine neuen Abhängigkeiten, und Meldungen immer auf Deutsch.",
  ])("correct the model, and are kept before other requests: %s", (words) => {
    const talk = [...chores(2), user(words), said("Understood."), ...chores(60)];
    const text = extractOf(talk, {}, 2_500);
    expect(text).toContain(`- ${words}\n`);
    expect(text).not.toContain("chore number 1 ");
  });

  test("are a correction where they stop the model at its work", () => {
    const talk = [...chores(2), user("Go."), ...edited(), user("the other file, src/b.ts"), ...edited(), ...chores(60)];
    expect(extractOf(talk, {}, 2_500)).toContain("- the other file, src/b.ts\n");
  });

  test("with a rule are quoted whole among the rules, with their context, and only once", () => {
    const words = "what is the footer using? should be dimmer, don't modify the theme";
    const text = extractOf([...chores(2), user(words), ...chores(2)]);
    expect(text).toContain(`## Constraints & Preferences\n\n- ${words}\n`);
    expect(text.split(words)).toHaveLength(2);
  });

  test("come with the error that was pasted behind them", () => {
    const words = "my dude, this exploded. invalid themes must NEVER explode";
    const pasted = "➜ git:(main) npx tsx cli.ts\nError: Invalid hex color: #000cc\n    at hexToRgb (theme.ts:148:9)\n".padEnd(
      900,
      "    at run (a.ts:1:1)\n",
    );
    const text = extractOf([...chores(2), user(`${words}\n\n${pasted}`), ...chores(2)]);
    expect(text).toContain(`- ${words} [Error: Invalid hex color: #000cc]\n`);
  });

  test("are quoted word for word, every rule, as long as there is room", () => {
    const word = fc.constantFrom(
      "never",
      "must",
      "always",
      "don't",
      "the",
      "table",
      "`a.ts`",
      "14 %",
      "Größe",
      "/home/ada/app/x.ts",
      "=>",
      "naïve",
    );
    const rule = fc.array(word, { minLength: 2, maxLength: 12 }).map((words) => `You must never touch ${words.join(" ")}`);
    fc.assert(
      fc.property(fc.uniqueArray(rule, { minLength: 1, maxLength: 12 }), (rules) => {
        const talk = rules.flatMap((text) => [user(text), ...edited(), said("The work is done as it was asked.")]);
        const text = extractOf([...chores(1), ...talk, ...chores(1)], { cwd: "/home/ada/app" });
        for (const one of rules) expect(text).toContain(`- ${one.replace(/\s+/g, " ")}\n`);
      }),
      { numRuns: runs(100) },
    );
  });

  test("set the goal: the first with a request", () => {
    const talk = [user("/mode"), user("hi"), said("Hello!"), user("thank you"), said("You're welcome."), user("Write the parser, please.")];
    expect(extractOf(talk)).toContain("## Goal\n\n> Write the parser, please.\n");
  });
});

describe("paths and secrets in an extract", () => {
  const KEY = "hunter2hunter2";
  const talk = [
    user("Repair /home/ada/app/src/a.ts, please."),
    ...ran("edit", { path: "/home/ada/app/src/a.ts" }, "Edited", {
      text: "The loop in /home/ada/app/src/a.ts ends one too early, so the last row is lost.",
    }),
    ...ran("bash", { command: `DB_PASSWORD=${KEY} make -C /home/ada/app/src` }, `/home/ada/app/src/b.ts: error: no rule`, {
      failed: true,
    }),
    said("It stops in /home/ada/app/src/b.ts now."),
  ];

  test("are relative to the session's directory, except in user messages", () => {
    const text = extractOf(talk, { cwd: "/home/ada/app" });
    expect(text.split("/home/ada")).toHaveLength(2);
    expect(text).toContain("> Repair /home/ada/app/src/a.ts, please.");
    expect(text).toContain("- src/a.ts\n");
    expect(text).toContain("- The loop in src/a.ts ends");
  });

  test("are as they were where no directory is known", () => {
    expect(extractOf(talk)).toContain("- /home/ada/app/src/a.ts\n");
  });

  test("are masked, before anything is cut, unless that is not wanted", () => {
    expect(extractOf(talk)).not.toContain(KEY.slice(0, 6));
    expect(extractOf(talk, {}, 300)).not.toContain(KEY.slice(0, 6));
    expect(extractOf(talk, { redact: false })).toContain(KEY);
    const short = { messages: [user(`Use password=${KEY}`)], kind: "history", previousSummary: null, instructions: null } as const;
    expect(extract(short, { maxChars: 200 })).toBe("Use password=[redacted]");
  });

  test("are masked in an extract of a prompt", async () => {
    const reply = await extractiveSummarizer()({ system: "", prompt: `[User]: Use DB_PASSWORD=${KEY} for the tests.` });
    expect(JSON.stringify(reply)).not.toContain(KEY);
  });
});
