import { userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { NavigatorModel } from "../../src/navigator/model.js";
import { view } from "../../src/navigator/view.js";
import { textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { opened, selected } from "./opened.js";

beforeAll(loadExactWidths);

/** Longer than what is read at once. */
const LONG = 4500;

describe("the navigator of a long session", () => {
  const longSession = () =>
    opened(async (store) => {
      const session = await store.createSession({ title: "Long" });
      for (let at = 0; at < LONG; at += 500) {
        const entries = Array.from({ length: 500 }, (_, one) => userMessage(`question ${at + one}`));
        await session.write(entries.map((entry) => ({ kind: "entry", entry })));
      }
      return session;
    });
  const linesOf = (model: NavigatorModel) => view(model).lines.map(({ line }) => textOfLine(line));

  test("has its first screen before the rest, and then all rows", async () => {
    const { driven } = await longSession();
    expect(driven.model.reading).not.toBeNull();
    expect(linesOf(driven.model).some((line) => line.includes(`question ${LONG - 1}`))).toBe(true);
    await driven.until(({ reading }) => reading === null);
    expect(driven.model.tree?.index.size).toBe(LONG);
    expect(linesOf(driven.model)[0]).toContain("4,500/4,500");
  });

  test("reads the rows of a screen when it gets there", async () => {
    const { driven, session, elsewhere } = await longSession();
    await driven.until(({ reading }) => reading === null);
    driven.press("g");
    await driven.until((model) => linesOf(model).some((line) => line.includes("question 0")));
    expect(selected(driven)).toBe((await session.tree.outline({ limit: 1 }))[0]?.id);
    await (await (await elsewhere()).openSession(session.id)).append(userMessage("the last one"));
    driven.press("G");
    await driven.until((model) => linesOf(model).some((line) => line.includes("the last one")));
  });

  test("closes when the session is deleted while it is read", async () => {
    const { driven, store, session } = await longSession();
    await store.deleteSession(session.id);
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toEqual({ kind: "deleted" });
  });
});
