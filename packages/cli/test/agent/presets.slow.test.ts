import { PRESETS, type PresetName } from "@bough/compaction";
import { describe, expect, test } from "vitest";
import { prose } from "../../../compaction/test/world/session.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { runTurn } from "../../src/agent/turn.js";
import { appendUserMessage } from "../../src/agent/turn-branch.js";
import type { TurnResult } from "../../src/agent/turn-events.js";
import { withSession } from "../../src/interactive/opened-session.js";
import { fileAt } from "../../src/session/store-location.js";
import type { Io } from "../../src/terminal/io.js";
import { Shell } from "./shell.js";

const WINDOW = 4_000;
/** An answer that is a summary too, where one is asked for. */
const ANSWER = `<analysis>x</analysis><summary>\n## Goal\nMend the parser.\n\n## Next Steps\n1. Go on\n</summary>`;

/** Lets `work` talk as the shell does, with a session, model, window and preset as its config names them. */
async function inShell(preset: PresetName, work: (turn: (said: string) => Promise<TurnResult>) => Promise<void>, answer = ANSWER) {
  const shell = await Shell.open();
  shell.server.limit(WINDOW);
  shell.server.otherwise(answer);
  const config = { preset, window: WINDOW };
  const model = chooseChatModel({}, config, { model: "test-model", baseUrl: shell.server.baseURL });
  if (model === null) throw new TypeError("the test names a model");
  const io = { now: Date.now } as Partial<Io> as Io;
  const run = { io, store: shell.store, location: fileAt(""), config, model, isNotebookShown: true, options: {} };
  await withSession(run, "talk", ({ session, compactor }) => {
    const turn = async (said: string) => {
      await appendUserMessage(session, said);
      const result = await runTurn({
        session,
        compactor,
        model,
        permissions: { read: "allow" },
        cwd: shell.folder,
        env: {},
        signal: new AbortController().signal,
        now: Date.now,
        onEvent: () => undefined,
        ask: async () => "no",
        retries: 0,
      });
      // As the shell does it, which does not wait for it.
      await compactor.turnEnded();
      return result;
    };
    return work(turn);
  });
  return shell;
}

describe.each(Object.keys(PRESETS) as PresetName[])("the shell with the preset %s in a window of 4,000 tokens", (preset) => {
  test("compacts a long talk, and no request is larger than the window or refused", async () => {
    const shell = await inShell(preset, async (turn) => {
      for (let n = 1; n <= 30; n += 1) expect(await turn(prose(`u${n}`, 250))).toMatchObject({ kind: "done" });
    });
    const sizes = shell.server.requests.map(({ tokens }) => tokens);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(WINDOW);
    const path = await (await shell.other()).path();
    expect(path.filter(({ type }) => type === "compaction").length).toBeGreaterThan(1);
    // Nothing was refused, so nothing was tried twice.
    expect(path.filter((entry) => entry.type === "compaction" && entry.trigger !== "threshold")).toEqual([]);
    expect(await shell.problems()).toEqual([]);
  });
});

describe("the shell with the preset python-agent", () => {
  test("compacts after a turn, before the next prompt", async () => {
    const shell = await inShell(
      "python-agent",
      async (turn) => {
        for (let n = 1; n <= 20; n += 1) await turn(`Go on with part ${n}.`);
      },
      prose("answer", 250),
    );
    const path = await (await shell.other()).path();
    const before = path.flatMap((entry, at) => (entry.type === "compaction" ? [path[at - 1]] : []));
    expect(before.length).toBeGreaterThan(1);
    expect(before.every((entry) => entry?.type === "message" && entry.message.role === "assistant")).toBe(true);
  });
});
