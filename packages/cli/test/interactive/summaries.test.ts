import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChatBody } from "../../../compaction/test/model/answer.js";
import { startModelServer } from "../../../compaction/test/model/model-server.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import type { Config } from "../../src/config/schema.js";
import { type InteractiveRun, withSession } from "../../src/interactive/opened-session.js";
import { createShellWorld } from "../../src/interactive/routes.js";
import { ShellPerformer } from "../../src/shell/perform.js";
import type { SlashName } from "../../src/shell/slash-commands.js";
import { type Line, textOfLine } from "../../src/terminal/line.js";
import { calls } from "../agent/model-answers.js";
import { quietIo } from "../quiet-io.js";

const SUMMARY = `<analysis>x</analysis><summary>\n## Goal\nRead f1.txt, f2.txt and f3.txt and answer. ${"word ".repeat(80)}\n</summary>`;

/** The shell as the command makes it, without a screen, with a model on loopback and three files to read. */
async function opened(config: Config) {
  const folder = mkdtempSync(join(tmpdir(), "bough-summaries-"));
  const path = join(folder, "sessions.db");
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const n of [1, 2, 3]) writeFileSync(join(folder, `f${n}.txt`), `file ${n}: ${"the quick brown fox jumps. ".repeat(500)}`);
  const server = await startModelServer();
  server.otherwise(({ messages = [] }) => (String(messages.at(-1)?.content).startsWith("Question") ? "Done." : SUMMARY));
  const options = { model: "test-model", baseUrl: server.baseURL };
  const run: InteractiveRun = {
    io: quietIo(folder),
    store,
    location: { isServer: false, address: path, name: path, isDefault: false, passwords: [] },
    config,
    model: chooseChatModel({}, config, options),
    isNotebookShown: true,
    options,
  };
  const { id } = await store.createSession({ cwd: folder });
  /** Runs `work` in the open session. `said`: what the shell printed and noted. */
  const inShell = (
    work: (shell: { send(text: string): Promise<void>; command(name: SlashName, rest?: string): Promise<void> }) => Promise<void>,
  ) =>
    withSession(run, id, async (session) => {
      const said: string[] = [];
      const host = {
        dispatch: (event: { readonly kind: string; readonly text?: unknown }) =>
          void said.push(`${event.kind} ${String(event.text ?? "")}`),
        print: (lines: readonly Line[]) => void said.push(...lines.map(textOfLine)),
        copy: () => undefined,
      };
      const performer = new ShellPerformer(createShellWorld(run, session), { showsTranscript: false, showsNotebookNote: false }, host);
      try {
        await work({
          send: (text) => performer.performAndWait({ kind: "send", text }),
          command: (name, rest = "") => performer.performAndWait({ kind: "command", name, rest }),
        });
      } finally {
        performer.end();
      }
      return { said: said.join("\n"), messages: (await session.session.context()).messages };
    });
  const read = (n: number) => calls([{ id: `call_${n}`, name: "read", input: { path: `f${n}.txt` } }]);
  return { server, store, inShell, read, bodies: () => server.requests.map(({ body }) => body) };
}

const toolNames = ({ tools }: ChatBody): readonly string[] =>
  Array.isArray(tools) ? tools.map((tool: { readonly function: { readonly name: string } }) => tool.function.name) : [];

describe.each(["vscode", "copilot-cli"] as const)("a summary in the shell with the preset %s", (preset) => {
  test("repeats the live request with its system prompt and tools, so that the provider reads its cached prefix", async () => {
    const { server, inShell, read, bodies } = await opened({ preset, tools: { read: "allow", bash: "ask" } });
    server.reply(read(1), read(2), "Done.", read(3), "Done.");
    const { messages } = await inShell(async ({ send, command }) => {
      await send("Question 1");
      await send("Question 2");
      await command("compact");
    });
    const [live, summary] = bodies().slice(-2);
    expect(live?.messages?.[0]?.role).toBe("system");
    // Byte for byte: the prefix of a cache is the text of the request.
    expect(JSON.stringify(summary?.messages?.slice(0, live?.messages?.length)) === JSON.stringify(live?.messages)).toBe(true);
    expect(JSON.stringify(summary?.["tools"])).toBe(JSON.stringify(live?.["tools"]));
    expect(summary?.["tool_choice"]).toBe("none");
    expect(summary?.messages?.length).toBe((live?.messages?.length ?? 0) + 2);
    expect(messages[0]?.role).toBe("compactionSummary");
  });
});

test("/compact first thing in a session of an earlier shell sends the system prompt and the tools too", async () => {
  const { server, inShell, read, bodies } = await opened({ preset: "vscode", tools: { read: "allow" } });
  server.reply(read(1), "Done.", read(2), "Done.");
  await inShell(async ({ send }) => {
    await send("Question 1");
    await send("Question 2");
  });
  const live = bodies().at(-1);
  await inShell(({ command }) => command("compact"));
  const summary = bodies().at(-1);
  expect(summary?.messages?.[0]).toEqual(live?.messages?.[0]);
  expect(toolNames(summary ?? {})).toEqual(["read"]);
});

describe("the recall tools", () => {
  test("are offered once there is a summary, which names them, and answer", async () => {
    const { server, inShell, read, bodies } = await opened({ preset: "vscode", tools: { read: "allow" } });
    server.reply(
      read(1),
      "Done.",
      read(2),
      "Done.",
      SUMMARY,
      calls([{ id: "c9", name: "recall_search", input: { query: "quick brown" } }]),
      "Done.",
    );
    const { messages } = await inShell(async ({ send, command }) => {
      await send("Question 1");
      await send("Question 2");
      await command("compact");
      await send("Question 3");
    });
    expect(toolNames(bodies()[0] ?? {})).toEqual(["read"]);
    const after = bodies()[5];
    expect(toolNames(after ?? {})).toEqual(["read", "recall_search", "recall_describe", "recall_expand", "recall_file"]);
    expect(JSON.stringify(after?.messages)).toContain("recall_search");
    const result = messages.findLast(({ role }) => role === "toolResult");
    expect(JSON.stringify(result)).toContain("quick brown fox");
  });

  test.each([{ tools: { read: "allow", recall: "off" } }, {}] as const)(
    "are not offered with %j, and the summary names no entries",
    async (config) => {
      const { inShell, bodies } = await opened({ ...config, preset: "vscode" });
      const { messages } = await inShell(async ({ send, command }) => {
        for (const n of [1, 2, 3]) await send(`Question ${n} ${"with many words ".repeat(300)}`);
        await command("compact");
        await send("Question 4");
      });
      expect(toolNames(bodies().at(-1) ?? {}).filter((name) => name.startsWith("recall"))).toEqual([]);
      const [summary] = messages;
      expect(summary?.role).toBe("compactionSummary");
      expect(JSON.stringify(summary)).not.toContain("This summary covers");
    },
  );
});

describe("the group compaction of the config file", () => {
  const long = `Question ${"with many words ".repeat(1_500)}`;

  test("switches automatic compaction off in the shell, and /compact still works", async () => {
    for (const enabled of [true, false]) {
      const { inShell } = await opened({ window: 8_000, compaction: { enabled, background: { start: null } } });
      const { messages } = await inShell(async ({ send }) => {
        for (let n = 1; n <= 4; n += 1) await send(long);
      });
      expect([enabled, messages.some(({ role }) => role === "compactionSummary")]).toEqual([enabled, enabled]);
    }
    const { inShell } = await opened({ compaction: { enabled: false } });
    const { messages } = await inShell(async ({ send, command }) => {
      for (let n = 1; n <= 4; n += 1) await send(long);
      await command("compact");
    });
    expect(messages.length).toBeGreaterThan(0);
  });

  test("is listed by /settings, each setting with its value", async () => {
    const { inShell } = await opened({ preset: "pi", compaction: { keep: { recentTokens: 9_000 }, enabled: false } });
    const { said } = await inShell(({ command }) => command("settings"));
    expect(said).toMatch(/compaction +pi/);
    expect(said).toMatch(/keep\.recentTokens +9000 {2}\(config file\)/);
    expect(said).toMatch(/enabled +false {2}\(config file\)/);
  });
});
