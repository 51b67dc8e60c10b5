import { assistantMessage, type Store, toolResult, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, it } from "vitest";
import type { NavigatorModel } from "../../src/navigator/model.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { NOON } from "../world.js";
import { opened } from "./opened.js";

beforeAll(loadExactWidths);

const SIZES = [
  { columns: 45, rows: 15 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
] as const;

/** A session without branches, of 60 turns. Four of its entries have the word: late in a long text, in a call, in a result, twice in a text. */
async function linear(store: Store) {
  const session = await store.createSession({ id: "session-1", title: "Themes reload", cwd: "/home/ann/web" });
  let minutes = 200;
  const next = () => {
    minutes -= 1;
    return { createdAtMs: NOON - minutes * 60_000 };
  };
  for (let turn = 0; turn < 60; turn += 1) {
    await session.append({ ...userMessage(`Question ${turn} about the colors`), id: `u${turn}`, ...next() });
    if (turn === 20)
      await session.append({
        ...assistantMessage(`${"The colors are read once. ".repeat(12)}A watcher is missing.`),
        id: "late",
        ...next(),
      });
    if (turn === 40) {
      const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "/home/ann/web/src/startThemeWatcher.ts" } } as const;
      await session.append({ ...assistantMessage([call]), id: "call", ...next() });
      await session.append({ ...toolResult("c1", `${"const a = 1;\n".repeat(30)}watcher.on("change");\n`), id: "result", ...next() });
    }
    if (turn === 50)
      await session.append({ ...assistantMessage("The watcher runs.\n\nStop the watcher on exit."), id: "twice", ...next() });
    await session.append({ ...assistantMessage(`Answer ${turn}`), id: `a${turn}`, ...next() });
  }
  return session;
}

const isFound = ({ search }: NavigatorModel) => search?.hits !== null;
const hasPreview = ({ preview }: NavigatorModel) => preview.lines !== null;

describe("a search in a session without branches", () => {
  it.each(SIZES)("at $columns × $rows", async (size) => {
    const { driven } = await opened(linear, { size });
    driven.press("/").type("watcher");
    await driven.until(isFound);
    expect(driven.text).toMatchSnapshot("hits");
    expect(driven.width).toBeLessThanOrEqual(size.columns);
    driven.press("enter", "v");
    await driven.until(hasPreview);
    expect(driven.text).toMatchSnapshot("preview at the first match");
  });

  it("shows the hits only, each from the words on", async () => {
    const { driven } = await opened(linear, { size: SIZES[1] });
    driven.press("/").type("watcher");
    await driven.until(isFound);
    expect(driven.text).toContain("4/4 of");
    expect(driven.text).toContain("A watcher is missing");
    expect(driven.text).not.toContain("Question");
  });
});
