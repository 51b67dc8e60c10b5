import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { findCompletions } from "../../src/prompt/completion.js";
import { SLASH_COMMANDS } from "../../src/shell/slash-commands.js";
import { commandLineOf } from "../../src/shell/slash-run.js";
import { DrivenShell } from "./driven.js";

async function talk(): Promise<DrivenShell> {
  return DrivenShell.open({
    before: async (session) => {
      await session.append(userMessage("Why does the parser fail?\nOn tabs, it seems."));
      await session.append(assistantMessage("It counts columns wrongly."));
    },
  });
}

/** The printed output of a command and its notice. */
async function ran(shell: DrivenShell, line: string): Promise<string> {
  const from = shell.printed.length;
  await shell.enter(line).until(() => shell.model.running === 0);
  return [...shell.printed.slice(from), shell.model.notice?.text ?? ""].join("\n");
}

/** Without whitespace: lines with long paths wrap. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

describe("slash commands on a store", () => {
  test("/context shows each message in one line, and a bar of the context window", async () => {
    const printed = await ran(await talk(), "/context");
    expect(printed).toMatch(/^user .*Why does the parser fail\?/m);
    expect(printed).not.toContain("On tabs");
    expect(printed).toMatch(/^█░{19} <1% of 100k/m);
  });

  test.each([
    ["/export talk.md", "talk.md", "# Talk"],
    ["/export talk.jsonl", "talk.jsonl", '{"type":"bough'],
    ["/export talk.pi.jsonl", "talk.pi.jsonl", '{"type":"session"'],
    ["/export ~/home.md", "home.md", "# Talk"],
    ["/export", "bough-talk.md", "# Talk"],
  ])("%s writes %s", async (line, file, begins) => {
    const shell = await talk();
    await ran(shell, line);
    expect(readFileSync(join(shell.folder, file), "utf8").slice(0, begins.length)).toBe(begins);
  });

  test("/export does not replace a file", async () => {
    const shell = await talk();
    await ran(shell, "/export talk.md");
    expect(squeezed(await ran(shell, "/export talk.md"))).toContain(squeezed("exists and was not changed"));
  });

  test.each(["/export --force talk.md", "/export talk.md --force", "/export  --force  bough-talk.md"])(
    "%s replaces a file",
    async (line) => {
      const shell = await talk();
      const path = join(shell.folder, line.includes("bough-") ? "bough-talk.md" : "talk.md");
      writeFileSync(path, "old");
      await ran(shell, line);
      expect(readFileSync(path, "utf8")).toContain("# Talk");
    },
  );

  test("/export --force without a file replaces the one that /export wrote", async () => {
    const shell = await talk();
    writeFileSync(join(shell.folder, "bough-talk.md"), "old");
    await ran(shell, "/export --force");
    expect(readFileSync(join(shell.folder, "bough-talk.md"), "utf8")).toContain("# Talk");
  });

  test("/compact --undo takes --yes, which an imported compaction needs, and a focus may begin with other words", () => {
    expect(commandLineOf("compact", "--undo --yes", "s")).toEqual(["compact", "s", "--undo", "--yes"]);
    expect(commandLineOf("compact", "--undo", "s")).toEqual(["compact", "s", "--undo"]);
    expect(commandLineOf("compact", "the tests", "s")).toBeUndefined();
  });

  test("/import takes a path with spaces in it, and imports what was found without one", () => {
    expect(commandLineOf("import", "--verbose a b.jsonl", "s")).toEqual(["import", "--verbose", "--", "a b.jsonl"]);
    expect(commandLineOf("import", "", "s")).toEqual(["import", "--yes"]);
    expect(commandLineOf("import", "--verbose", "s")).toEqual(["import", "--verbose", "--yes"]);
  });

  test("/export writes into the current directory for any session id", () => {
    expect(commandLineOf("export", "", "a/../../b")?.at(-1)).toBe("bough-a_______.md");
  });

  test("/export writes an HTML page, and takes its flags before and after the name of the file", async () => {
    const shell = await talk();
    await ran(shell, "/export page.html");
    expect(readFileSync(join(shell.folder, "page.html"), "utf8")).toMatch(/^<!doctype html>/i);
    for (const line of ["--force --with-secrets a b.md", "a b.md --with-secrets --force", "--with-secrets a b.md --force"])
      expect(commandLineOf("export", line, "s")).toEqual([
        "export",
        "s",
        ...["--force", "--with-secrets"].filter((flag) => line.includes(flag)),
        "--output",
        "a b.md",
      ]);
  });

  test("/export clipboard is not accepted as a file name", async () => {
    const shell = await talk();
    expect(await ran(shell, "/export clipboard")).toContain("Into which file?");
    expect(existsSync(join(shell.folder, "clipboard"))).toBe(false);
  });

  test("/import expands ~ in a path", async () => {
    const shell = await talk();
    await ran(shell, "/export out.jsonl");
    expect(await ran(shell, "/import ~/out.jsonl")).not.toContain("Nothing to read");
  });

  test("/undo and /redo move the leaf, and the next message is appended there", async () => {
    const shell = await talk();
    const [first] = await shell.session.path();
    await shell.session.moveLeaf(first?.id ?? null);
    await ran(shell, "/undo");
    expect((await shell.session.path()).length).toBe(2);
    await ran(shell, "/redo");
    expect((await shell.session.path()).length).toBe(1);
  });

  test("/undo takes back a /compact --undo, and /redo takes it again", async () => {
    const words = "Tabs are words to the lexer. ".repeat(4_000);
    const shell = await DrivenShell.open({
      before: async (session) => {
        for (const name of ["lexer", "parser", "printer"]) {
          await session.append(userMessage(`Why does the ${name} fail? ${words}`));
          await session.append(assistantMessage(`The ${name} counts columns wrongly.`));
        }
      },
    });
    await ran(shell, "/compact");
    const leaf = async () => (await shell.session.path()).at(-1);
    const compaction = await leaf();
    expect(compaction?.type).toBe("compaction");
    expect(await ran(shell, "/compact --undo")).toContain(`undone: ${compaction?.id}`);
    const undone = await leaf();
    expect(undone).toMatchObject({ type: "context_edit", targetId: compaction?.id });
    expect(await ran(shell, "/undo")).toContain("leaf: ");
    expect((await leaf())?.id).toBe(compaction?.id);
    await ran(shell, "/redo");
    expect((await leaf())?.id).toBe(undone?.id);
  });

  test("/name, /label, /search, /stats, /settings and /help print their results", async () => {
    const shell = await talk();
    expect(await ran(shell, "/name A title")).toContain("A title");
    expect(await ran(shell, "/label here")).toContain("[here]");
    expect(await ran(shell, "/search tabs")).toContain("1 match");
    expect(await ran(shell, "/stats")).toContain("2 messages");
    expect(await ran(shell, "/settings")).toContain("(default)");
    const help = await ran(shell, "/help");
    for (const { name } of SLASH_COMMANDS) expect(help).toContain(`/${name}`);
  });

  test("/fork and /clone open a copy of the path", async () => {
    const forked = await talk();
    await forked.enter("/fork @root").until(() => forked.result !== undefined);
    const fork = forked.result?.kind === "open" ? await forked.store.openSession(forked.result.sessionId) : undefined;
    expect((await fork?.path())?.length).toBe(1);
    expect(forked.result).toMatchObject({
      notice: "New session: Talk, fork 1 (FORK), 1 entry. Back: /sessions, or bough --session talk".replace(
        "FORK",
        fork?.id.slice(0, 4) ?? "",
      ),
    });
    const cloned = await talk();
    await cloned.enter("/clone").until(() => cloned.result !== undefined);
    const clone = cloned.result?.kind === "open" ? await cloned.store.openSession(cloned.result.sessionId) : undefined;
    expect((await clone?.path())?.length).toBe(2);
  });

  test("an unknown one shows an error, and the line stays in the prompt", async () => {
    const shell = await DrivenShell.open();
    expect(shell.enter("/tre x").model.notice?.text).toBe(
      "No command /tre: did you mean /tree? To send a message that starts with /, type //.",
    );
    expect(shell.model.editor.text).toBe("/tre x");
    shell.press("ctrl+u");
    expect(shell.enter("/zzzzzz").model.notice?.text).toBe(
      "No command /zzzzzz. /help lists the commands. To send a message that starts with /, type //.",
    );
  });
});

describe("completion after a command", () => {
  const offered = (text: string) => findCompletions(text, text.length, SLASH_COMMANDS).map(({ insert }) => insert);

  test("offers known arguments", () => {
    expect(offered("/thinking ")).toEqual(["off", "minimal", "low", "medium", "high"]);
    expect(offered("/thinking m")).toEqual(["minimal", "medium"]);
    expect(offered("/thinking high")).toEqual([]);
    expect(offered("/export ")).toEqual([]);
  });

  test("is accepted by Tab, and Enter sends the line", async () => {
    const shell = await DrivenShell.open();
    expect(shell.type("/thinking h").press("tab").model.editor.text).toBe("/thinking high");
    await shell.press("enter").until(() => shell.model.running === 0);
    expect((await shell.session.settings()).thinkingLevel).toBe("high");
  });
});

test("/model warns if commands of the model can read its key", async () => {
  const shell = await DrivenShell.open({ keyWarning: "Commands can read the key." });
  await shell.enter("/model another").until(() => shell.model.status.model === "another");
  expect(shell.above).toContain("Commands can read the key.");
});
