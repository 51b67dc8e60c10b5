import { EntryNotFoundError, type EntryPayload } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { markdownOf } from "../../src/markdown/markdown.js";
import { assistant, body, call, closing, documentOf, path, result, text, user, written } from "./documents.js";

const THOUGHT = { type: "thinking" as const, thinking: "Maybe <b>.", thinkingSignature: "s" };

describe("a branch as a Markdown document", () => {
  test("opens with what it is, and closes with what it leaves out", async () => {
    const session = { id: "s1", title: "Fix_the *build*", cwd: "/home/ada/app", createdAtMs: Date.UTC(2026, 0, 5, 23) };
    const document = documentOf(path(user("hi"), assistant(text("hello"))), { session, model: "anthropic/claude" });
    expect(await written(document)).toBe(
      [
        "# Fix\\_the \\*build\\*",
        "2026-01-05 · anthropic/claude · `/home/ada/app` · session `s1`",
        "## User",
        "hi",
        "## Assistant",
        "hello",
        "---",
        "*Nothing of this branch was left out.*\n",
      ].join("\n\n"),
    );
  });

  test("names a file with its size, and counts it", async () => {
    const file = { type: "file", mediaType: "application/pdf", data: "aGkh", filename: "plan_b.pdf" } as const;
    const document = await written(documentOf(path({ type: "message", message: { role: "user", content: [file] } })));
    expect(document).toContain("*[file: plan\\_b.pdf (application/pdf), 3 B]*");
    expect(document).toContain("1 file");
    expect(document).not.toContain("aGkh");
  });

  test("takes its title from the first words of the user", async () => {
    const session = { id: "s1", title: null, cwd: null, createdAtMs: 0 };
    const entries = path({ type: "model_change", modelId: "m" }, user("Why is\nthe build red?\n\n```\nlog\n```"));
    expect((await written(documentOf(entries, { session }))).split("\n")[0]).toBe("# Why is the build red?");
    expect((await written(documentOf([], { session }))).split("\n")[0]).toBe("# Session s1");
  });

  test("takes its title from the first request, not from a slash command or thanks before it", async () => {
    const session = { id: "s1", title: null, cwd: null, createdAtMs: 0 };
    const titleOf = async (...texts: string[]) => {
      const document = documentOf(path(...texts.flatMap((words) => [user(words), assistant(text("ok"))])), { session });
      return (await written(document)).split("\n")[0];
    };
    expect(await titleOf("/mode", "Port the theme", "Now the tests")).toBe("# Port the theme");
    expect(await titleOf("/init", "thank you")).toBe("# /init");
    const typed = { role: "custom" as const, customType: "claude.command", content: "<command-name>/init</command-name>", display: true };
    const entries = path({ type: "message", message: typed }, assistant(text("ok")), user("thank you"));
    expect((await written(documentOf(entries, { session }))).split("\n")[0]).toBe("# /init");
  });

  test("names the assistant once for a run of replies", async () => {
    const entries = path(assistant(text("a"), call("c", "ls")), result("c", "out"), assistant(text("b")));
    expect((await body(entries)).match(/^## Assistant$/gm)).toHaveLength(1);
  });

  test("keeps the order of texts and calls, each call folded with its result", async () => {
    const entries = path(
      assistant(text("First."), call("c1", "read", { path: "a.ts" }), text("Then."), call("c2", "ls")),
      result("c2", "b.ts"),
      result("c1", "let a"),
    );
    expect(await body(entries)).toBe(
      [
        "## Assistant",
        "First.",
        "<details><summary>read a.ts</summary>",
        "```ts\nlet a\n```",
        "</details>",
        "Then.",
        "<details><summary>ls</summary>",
        "```\nb.ts\n```",
        "</details>",
      ].join("\n\n"),
    );
  });

  test("shows a command once, short arguments in a line, long texts as they are, and others as JSON", async () => {
    const args = { command: "npm test\nnpm run build", timeout: 5, quiet: true, input: "a\nb", env: { A: "1" } };
    expect(await body(path(assistant(call("c1", "bash", args)), result("c1", "")))).toBe(
      [
        "## Assistant",
        "<details><summary>bash npm test npm run build</summary>",
        "```sh\nnpm test\nnpm run build\n```",
        "*timeout: 5 · quiet: true*",
        "*input:*",
        "```\na\nb\n```",
        '```json\n{\n  "env": {\n    "A": "1"\n  }\n}\n```',
        "*No output.*",
        "</details>",
      ].join("\n\n"),
    );
    const once = path(assistant(call("c1", "bash", { command: "npm test" })), result("c1", "ok"));
    expect(await body(once)).toBe("## Assistant\n\n<details><summary>bash npm test</summary>\n\n```\nok\n```\n\n</details>");
  });

  test("folds nothing that is empty", async () => {
    const entries = path(assistant(call("c1", "bash", { command: "git add `a`" })), result("c1", "\n"));
    expect(await body(entries)).toBe("## Assistant\n\n- bash `` git add `a` `` — no output");
  });

  test("without tool output has a line for each call, also for edits, and nothing to unfold", async () => {
    const edit = call("c1", "edit", { path: "a.ts", oldText: "a\nb", newText: "a\nc" });
    const entries = path(
      assistant(edit, call("c2", "read", { path: "b.ts" })),
      result("c1", "ok"),
      result("c2", "x", true),
      { type: "message", message: { role: "bashExecution", command: "make\nall", output: "boom", exitCode: 2 } },
      result("stray", "out"),
    );
    expect(await body(entries, { toolOutput: "none" })).toBe(
      [
        "## Assistant",
        "- edit `a.ts`",
        "- read `b.ts` — failed",
        "## User",
        "- `$ make all` *The command exited with code 2.*",
        "## Assistant",
        "- Result of tool",
      ].join("\n\n"),
    );
    expect(await closing(entries, { toolOutput: "none" })).toBe(
      "*Left out of this document: 4 tool outputs, 1 change or argument of a call.*",
    );
  });

  test("shows the files that Claude Code read without numbers of lines and reminders", async () => {
    const shown = '     1→{\n     2→  "a": 1\n     3→}\n\n<system-reminder>\nBe careful.\n</system-reminder>\n';
    const entries = path(assistant(call("c1", "Read", { file_path: "a.json" })), result("c1", shown));
    expect(await body(entries)).toContain('```json\n{\n  "a": 1\n}\n```\n\n</details>');
    expect(await closing(entries)).toBe("*Left out of this document: 1 reminder of the agent to the model.*");
    const mixed = path(assistant(call("c1", "bash", { command: "cat x" })), result("c1", "1→a\nb <system-reminder>c</system-reminder>"));
    expect(await body(mixed)).toContain("1→a\nb <system-reminder>c</system-reminder>");
  });

  test("shows plans as task lists, and only where they have changed", async () => {
    const todos = (state: string) => ({
      todos: [
        { content: "Read *it*", status: "completed" },
        { content: "Write", status: state },
      ],
    });
    const entries = path(
      assistant(call("c1", "TodoWrite", todos("in_progress"))),
      result("c1", "Todos have been modified successfully."),
      assistant(call("c2", "TodoWrite", todos("in_progress"))),
      result("c2", "Todos have been modified successfully."),
      assistant(call("c3", "TodoWrite", todos("completed"))),
      result("c3", "Todos have been modified successfully."),
    );
    expect(await body(entries)).toBe("## Assistant\n\n- [x] Read \\*it\\*\n- [ ] **Write**\n\n- [x] Read \\*it\\*\n- [x] Write");
  });

  test("says changes of settings in one line, and none twice", async () => {
    const model = (modelId: string): EntryPayload => ({ type: "model_change", provider: "p", modelId });
    const thinking = (thinkingLevel: string): EntryPayload => ({ type: "thinking_level_change", thinkingLevel });
    const entries = path(model("a"), thinking("off"), thinking("high"), user("x"), model("a"), thinking("high"), user("y"), model("b"));
    expect(await body(entries)).toBe("*Model p/a · thinking high*\n\n## User\n\nx\n\n## User\n\ny\n\n*Model p/b*");
    const whole = await written(documentOf(path(model("a"), thinking("high"), user("x")), { model: "a" }));
    expect(whole).toContain("\n\n*Thinking high*\n\n## User");
  });

  test("heads a message of the person with its time", async () => {
    const entries = path(user("x")).map((entry) => ({ ...entry, createdAtMs: Date.UTC(2026, 0, 5, 9, 7) }));
    expect(await body(entries)).toBe("## User · 2026-01-05 09:07 UTC\n\nx");
  });

  test("says nothing of missing results where the reply says why", async () => {
    const stopped: EntryPayload = {
      type: "message",
      message: { role: "assistant", content: [call("c1", "bash", { command: "sleep 9" })], stopReason: "aborted" },
    };
    expect(await body(path(stopped))).toBe("## Assistant\n\n- bash `sleep 9`\n\n*The reply was stopped before it was finished.*");
  });

  test("writes images that are what they claim to be beside the document, and says of others that they are left out", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("x")]).toString("base64");
    const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
    const names: string[] = [];
    const asset = ({ name }: { name: string }) => {
      names.push(name);
      return `my assets/(${name})`;
    };
    const whole = await body(path(user([image(png), image(Buffer.from("<svg onload=x>").toString("base64"))])), { asset });
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{16}\.png$/)]);
    expect(whole).toContain(`![image](my%20assets/%28${names[0]}%29)`);
    expect(whole).toContain("*[image, 14 B, left out: it is of no known type]*");
  });

  test("shows edits and new files as diffs", async () => {
    const edit = call("c1", "edit", { path: "a.ts", oldText: "a\nb", newText: "a\nc" });
    const write = call("c2", "write", { path: "b.ts", content: "x\ny\n" });
    const whole = await body(path(assistant(edit, write), result("c1", "ok"), result("c2", "ok")));
    expect(whole).toContain("```diff\n a\n-b\n+c\n```");
    expect(whole).toContain("```diff\n+x\n+y\n```");
  });

  test("marks failed calls and calls without a result", async () => {
    const whole = await body(path(assistant(call("c1", "ls"), call("c2", "cat")), result("c1", "denied", true), user("stop")));
    expect(whole).toContain("<summary>ls — failed</summary>\n\n```\ndenied\n```");
    expect(whole).toContain("<summary>cat</summary>\n\n*No result.*");
  });

  test("shortens long outputs and says by how much", async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
    const entries = path(assistant(call("c1", "ls")), result("c1", lines));
    expect(await body(entries)).toContain("line 19\n```\n\n*… 30 more lines, 240 more characters*");
    expect(await body(entries, { toolOutput: "full" })).toContain("line 49\n```");
    expect(await body(entries, { toolOutput: "none" })).toBe("## Assistant\n\n- ls");
    expect(await closing(entries, { toolOutput: "none" })).toBe("*Left out of this document: 1 tool output.*");
  });

  test("keeps the indentation of tool output", async () => {
    expect(await body(path(assistant(call("c1", "ls")), result("c1", "  a\n\tb")))).toContain("```\n  a\n\tb\n```");
  });

  test("shows thinking only when asked", async () => {
    const entries = path(assistant(THOUGHT, text("Yes.")));
    expect(await body(entries)).toBe("## Assistant\n\nYes.");
    expect(await closing(entries)).toBe("*Left out of this document: 1 thought of the model.*");
    expect(await body(entries, { thinking: true })).toContain("<details><summary>Thinking</summary>\n\nMaybe &lt;b>.\n\n</details>");
  });

  test("shows labels before what they name, results too", async () => {
    const entries = path(user("a"), assistant(text("b"), call("c1", "ls")), result("c1", "out"));
    const labels = new Map([
      ["e1", "before *the* change"],
      ["e2", "listed"],
    ]);
    const whole = await written(documentOf(entries, { labels }));
    expect(whole).toContain("**Label: before \\*the\\* change**\n\n**Label: listed**\n\n## Assistant\n\nb");
  });

  test("marks summaries as such, with their files", async () => {
    const details = { readFiles: ["a.ts"], modifiedFiles: ["b`.ts"] };
    const compaction: EntryPayload = {
      type: "compaction",
      summary: "# Goal\nShip.",
      firstKeptEntryId: null,
      tokensBefore: 12345,
      tokensAfter: 900,
      details,
    };
    expect(await body(path(compaction))).toBe(
      [
        "> **Compaction** — summary of the conversation before this point (12,345 tokens → 900). The model went on from it.",
        "> ### Goal\n> Ship.",
        "> **Modified files:** `` b`.ts ``",
        "> **Read files:** `a.ts`",
      ].join("\n>\n"),
    );
    const raw = "Done.\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\nc.ts\n</modified-files>";
    expect(await body(path({ type: "compaction", summary: raw, firstKeptEntryId: null }))).toMatch(
      /\n> Done\.\n>\n> \*\*Modified files:\*\* `b\.ts`, `c\.ts`\n>\n> \*\*Read files:\*\* `a\.ts`$/,
    );
    expect(await body(path({ type: "branch_summary", summary: "Failed.", fromId: "e9" }))).toBe(
      "> **Branch summary** — what happened on another branch.\n>\n> Failed.",
    );
  });

  test("has a rendering for commands of the person, hosts' messages, settings and instructions", async () => {
    const bash: EntryPayload = { type: "message", message: { role: "bashExecution", command: "make", output: "boom", exitCode: 2 } };
    const note: EntryPayload = { type: "custom_message", customType: "ci", content: "red" };
    const model: EntryPayload = { type: "model_change", provider: "openai", modelId: "gpt_5" };
    const system: EntryPayload = { type: "message", message: { role: "system", content: "Be brief." } };
    expect(await body(path(bash, note, model, system))).toBe(
      [
        "## User",
        "<details><summary>$ make</summary>\n\n```sh\nmake\n```\n\n```\nboom\n```\n\n*The command exited with code 2.*\n\n</details>",
        "## Message: ci",
        "red",
        "*Model openai/gpt\\_5*",
        "<details><summary>Instructions of the agent</summary>\n\n```md\nBe brief.\n```\n\n</details>",
      ].join("\n\n"),
    );
  });

  test("cuts the command of a heading before a pair of surrogates, not in it", async () => {
    const command = `${"x".repeat(199)}😀 y`;
    const written = await body(path({ type: "message", message: { role: "bashExecution", command, output: "" } }));
    expect(/<summary>(.*)<\/summary>/.exec(written)?.[1]).toBe(`$ ${"x".repeat(199)}`);
  });

  test("says how a reply ended that did not end well", async () => {
    const failed: EntryPayload = {
      type: "message",
      message: { role: "assistant", content: [], stopReason: "error", errorMessage: "over<loaded>" },
    };
    expect(await body(path(failed))).toBe("## Assistant\n\n*The reply failed: over&lt;loaded&gt;*");
  });

  test("stands in for images, and counts what it leaves out", async () => {
    const image = { type: "image" as const, data: "A".repeat(16_000), mimeType: "image/png" };
    const hidden: EntryPayload = { type: "custom_message", customType: "x", content: "secret", display: false };
    const entries = path(
      user([text("see"), image]),
      hidden,
      { type: "custom", customType: "x" },
      { type: "custom", customType: "y" },
      { type: "foreign", originalType: "z", raw: {} },
    );
    expect(await body(entries)).toBe("## User\n\nsee\n\n*[image, 12.0 kB, left out; --assets DIR writes it]*");
    expect(await closing(entries)).toBe(
      "*Left out of this document: 1 image, 1 hidden message, 2 custom entries, 1 record of another program.*",
    );
  });

  test("shows the range that was asked for, and says that there is more", async () => {
    const entries = path(user("a"), user("b"), user("c"), user("d"));
    expect(await body(entries, { from: "e1", to: "e2" })).toBe("## User\n\nb\n\n## User\n\nc");
    expect(await closing(entries, { from: "e1", to: "e2" })).toBe(
      "*Left out of this document: 1 earlier entry, everything after the last entry shown.*",
    );
    expect(await closing(entries, { to: "e3" })).toBe("*Nothing of this branch was left out.*");
  });

  test("refuses a range that is not on the branch, before writing anything", async () => {
    const pieces = markdownOf(documentOf(path(user("a"), user("b"))), { from: "nowhere" });
    await expect(pieces.next()).rejects.toThrow(EntryNotFoundError);
    await expect(written(documentOf(path(user("a"), user("b"))), { from: "e1", to: "e0" })).rejects.toThrow(EntryNotFoundError);
  });

  test("writes as it reads: nothing but the entry at hand is held", async () => {
    let read = 0;
    async function* entries() {
      for (const entry of path(...Array.from({ length: 20_000 }, () => user("a")))) {
        read++;
        yield entry;
      }
    }
    let pieces = 0;
    for await (const _ of markdownOf(documentOf(entries()))) {
      pieces++;
      expect(read).toBeLessThanOrEqual(pieces / 2 + 1);
    }
    expect(pieces).toBe(2 + 40_000 + 2);
  });
});
