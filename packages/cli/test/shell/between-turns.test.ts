import { describe, expect, onTestFinished, test } from "vitest";
import { gate, text } from "../../../compaction/test/model/answer.js";
import { plant, prose, turns } from "../../../compaction/test/world/session.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { withSession } from "../../src/interactive/opened-session.js";
import { createShellWorld } from "../../src/interactive/routes.js";
import type { ShellEvent } from "../../src/shell/model.js";
import { ShellPerformer } from "../../src/shell/perform.js";
import type { ShellHost } from "../../src/shell/world.js";
import type { Io } from "../../src/terminal/io.js";
import { Shell } from "../agent/shell.js";

const WINDOW = 20_000;
const SUMMARY = "<analysis>x</analysis><summary>\n## Goal\nMend src/k1.ts and src/k2.ts.\n</summary>";

/** Everything that a shell tells its screen, and a way to wait for some of it. */
class Heard implements ShellHost {
  readonly news: ShellEvent[] = [];
  #waiting: (() => void)[] = [];
  readonly dispatch = (news: ShellEvent): void => {
    this.news.push(news);
    for (const wake of this.#waiting.splice(0)) wake();
  };
  readonly print = (): void => undefined;
  readonly copy = (): void => undefined;

  async until(holds: (news: ShellEvent) => boolean): Promise<void> {
    while (!this.news.some(holds)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

const stored = (text: string) => (news: ShellEvent) => news.kind === "message-stored" && news.text === text;
const compacting = (background: boolean) => (news: ShellEvent) => news.kind === "status" && news.status.background === background;

/** A shell whose first turn ends just above the threshold, as its answer is long; then the summary is asked for and waits. */
async function overThreshold(work: (it: { shell: Shell; performer: ShellPerformer; heard: Heard; write: () => void }) => Promise<void>) {
  const shell = await Shell.open();
  await plant(shell.session, turns(1, 55));
  const written = gate();
  shell.server.reply(text(prose("answer", 5_000)), text(SUMMARY, { when: written.opened }));
  // The rest of the summary, which is folded, and later answers.
  shell.server.otherwise(SUMMARY);
  const config = { preset: "python-agent", window: WINDOW } as const;
  const model = chooseChatModel({}, config, { model: "test-model", baseUrl: shell.server.baseURL });
  const io = { now: Date.now, cwd: shell.folder, env: {}, home: shell.folder } as Partial<Io> as Io;
  const run = { io, store: shell.store, storePath: "", config, model, isNotebookShown: true, options: {} };
  await withSession(run, "talk", async (opened) => {
    const performer = new ShellPerformer(createShellWorld(run, opened), { showsTranscript: false, showsNotebookNote: false });
    onTestFinished(() => performer.close());
    const heard = new Heard();
    await performer.performAndWait({ kind: "open" }, heard);
    await performer.performAndWait({ kind: "send", text: "first" }, heard);
    await shell.server.request(1);
    await work({ shell, performer, heard, write: written.open });
  });
}

describe("a compaction that is due when a turn ends", () => {
  test("is shown after the reply; the next prompt is stored meanwhile, and its request waits", async () => {
    await overThreshold(async ({ shell, performer, heard, write }) => {
      const kinds = heard.news.map(({ kind }) => kind);
      expect(kinds).toContain("reply-ended");
      expect(kinds).toContain("line-done");
      expect(heard.news.findLast((news) => news.kind === "status" && news.status.background !== undefined)).toMatchObject({
        status: { background: true },
      });
      const second = performer.performAndWait({ kind: "send", text: "second" }, heard);
      await heard.until(stored("second"));
      expect(shell.server.requests).toHaveLength(2);
      write();
      await second;
      const path = await (await shell.other()).path();
      expect(path.filter(({ type }) => type === "compaction")).toHaveLength(1);
      expect(heard.news.findLast((news) => news.kind === "status" && news.status.background !== undefined)).toMatchObject({
        status: { background: false },
      });
      const before = path.findIndex(({ type }) => type === "compaction");
      expect(path.slice(before + 1)).toMatchObject([{ type: "message", message: { role: "assistant" } }]);
      expect(path[before - 1]).toMatchObject({ message: { role: "user", content: "second" } });
      expect(await shell.problems()).toEqual([]);
    });
  });

  test("shows a notice if it fails; the reply stays stored", async () => {
    await overThreshold(async ({ shell, heard, write }) => {
      await shell.store.deleteSession("talk");
      write();
      await heard.until((news) => news.kind === "notice");
      expect(heard.news.filter(({ kind }) => kind === "notice")).toMatchObject([{ isError: true, text: expect.stringContaining("talk") }]);
      const kinds = heard.news.map(({ kind }) => kind);
      expect(kinds.indexOf("reply-ended")).toBeLessThan(kinds.indexOf("notice"));
    });
  });

  test("is cancelled by the user without an error, and ends before the next request", async () => {
    await overThreshold(async ({ shell, performer, heard }) => {
      performer.perform({ kind: "stop" }, heard);
      await shell.server.requests[1]?.gone;
      await heard.until(compacting(false));
      expect(heard.news.some(({ kind }) => kind === "notice")).toBe(false);
      await performer.performAndWait({ kind: "send", text: "second" }, heard);
      const path = await (await shell.other()).path();
      expect(path.filter(({ type }) => type === "compaction")).toHaveLength(1);
      expect(path.at(-1)).toMatchObject({ type: "message", message: { role: "assistant", stopReason: "stop" } });
    });
  });
});
