import { describe, expect, onTestFinished, test } from "vitest";
import { gate, text } from "../../../compaction/test/model/answer.js";
import { plant, prose, turns } from "../../../compaction/test/world/session.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { withSession } from "../../src/interactive/opened-session.js";
import { createShellWorld } from "../../src/interactive/routes.js";
import { fileAt } from "../../src/session/store-location.js";
import type { ShellEvent } from "../../src/shell/model.js";
import { ShellPerformer } from "../../src/shell/perform.js";
import type { ShellHost } from "../../src/shell/world.js";
import type { Io } from "../../src/terminal/io.js";
import { type Line, textOfLine } from "../../src/terminal/line.js";
import { Shell } from "../agent/shell.js";

const WINDOW = 20_000;
const SUMMARY = "<analysis>x</analysis><summary>\n## Goal\nMend src/k1.ts and src/k2.ts.\n</summary>";

/** Records the events that a shell dispatches, and waits for some of them. */
class RecordingHost implements ShellHost {
  readonly events: ShellEvent[] = [];
  readonly printed: string[] = [];
  #waiting: (() => void)[] = [];
  readonly dispatch = (event: ShellEvent): void => {
    this.events.push(event);
    for (const wake of this.#waiting.splice(0)) wake();
  };
  readonly print = (lines: readonly Line[]): void => {
    this.printed.push(...lines.map(textOfLine));
    for (const wake of this.#waiting.splice(0)) wake();
  };
  readonly copy = (): void => undefined;

  /** Waits for the prompt of a message, which is printed once it is stored. */
  async prompted(text: string): Promise<void> {
    while (!this.printed.some((line) => line.includes(text))) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async until(holds: (event: ShellEvent) => boolean): Promise<void> {
    while (!this.events.some(holds)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

const compacting = (background: boolean) => (event: ShellEvent) => event.kind === "status" && event.status.background === background;

/** A shell whose first turn ends just above the threshold, as its answer is long; then the summary is asked for and waits. */
async function overThreshold(
  work: (it: { shell: Shell; performer: ShellPerformer; host: RecordingHost; write: () => void }) => Promise<void>,
) {
  const shell = await Shell.open();
  await plant(shell.session, turns(1, 55));
  const written = gate();
  shell.server.reply(text(prose("answer", 5_000)), text(SUMMARY, { when: written.opened }));
  // The rest of the summary, which is folded, and later answers.
  shell.server.otherwise(SUMMARY);
  const config = { preset: "python-agent", window: WINDOW } as const;
  const model = chooseChatModel({}, config, { model: "test-model", baseUrl: shell.server.baseURL });
  const io = { now: Date.now, cwd: shell.folder, env: {}, home: shell.folder } as Partial<Io> as Io;
  const run = { io, store: shell.store, location: fileAt(""), config, model, isNotebookShown: true, options: {} };
  await withSession(run, "talk", async (opened) => {
    const host = new RecordingHost();
    const performer = new ShellPerformer(createShellWorld(run, opened), { showsTranscript: false, showsNotebookNote: false }, host);
    onTestFinished(() => performer.end());
    await performer.performAndWait({ kind: "open" });
    await performer.performAndWait({ kind: "send", text: "first" });
    await shell.server.request(1);
    await work({ shell, performer, host, write: written.open });
  });
}

describe("a compaction that is due when a turn ends", () => {
  test("is shown after the reply; the next prompt is stored meanwhile, and its request waits", async () => {
    await overThreshold(async ({ shell, performer, host, write }) => {
      const kinds = host.events.map(({ kind }) => kind);
      expect(kinds).toContain("reply-ended");
      expect(kinds).toContain("line-done");
      expect(host.events.findLast((event) => event.kind === "status" && event.status.background !== undefined)).toMatchObject({
        status: { background: true },
      });
      const second = performer.performAndWait({ kind: "send", text: "second" });
      await host.prompted("second");
      expect(shell.server.requests).toHaveLength(2);
      write();
      await second;
      const path = await (await shell.other()).path();
      expect(path.filter(({ type }) => type === "compaction")).toHaveLength(1);
      expect(host.events.findLast((event) => event.kind === "status" && event.status.background !== undefined)).toMatchObject({
        status: { background: false },
      });
      const before = path.findIndex(({ type }) => type === "compaction");
      expect(path.slice(before + 1)).toMatchObject([{ type: "message", message: { role: "assistant" } }]);
      expect(path[before - 1]).toMatchObject({ message: { role: "user", content: "second" } });
      expect(await shell.problems()).toEqual([]);
    });
  });

  test("shows a notice if it fails; the reply stays stored", async () => {
    await overThreshold(async ({ shell, host, write }) => {
      await shell.store.deleteSession("talk");
      write();
      await host.until((event) => event.kind === "notice");
      expect(host.events.filter(({ kind }) => kind === "notice")).toMatchObject([{ isError: true, text: expect.stringContaining("talk") }]);
      const kinds = host.events.map(({ kind }) => kind);
      expect(kinds.indexOf("reply-ended")).toBeLessThan(kinds.indexOf("notice"));
    });
  });

  test("is cancelled by the user without an error, and ends before the next request", async () => {
    await overThreshold(async ({ shell, performer, host }) => {
      performer.perform({ kind: "stop" });
      await shell.server.requests[1]?.gone;
      await host.until(compacting(false));
      expect(host.events.some(({ kind }) => kind === "notice")).toBe(false);
      await performer.performAndWait({ kind: "send", text: "second" });
      const path = await (await shell.other()).path();
      expect(path.filter(({ type }) => type === "compaction")).toHaveLength(1);
      expect(path.at(-1)).toMatchObject({ type: "message", message: { role: "assistant", stopReason: "stop" } });
    });
  });
});
