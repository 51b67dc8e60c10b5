import { type Session, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { ContextMeter } from "../../src/tokens/context-meter.js";
import { messageTokens } from "../../src/tokens/message-tokens.js";
import type { TokenCounter } from "../../src/tokens/token-counter.js";
import { grown, openedStore, plant, turns } from "../world/session.js";

/** Counts words and remembers how many texts it was given. */
function counting(name = "words") {
  const seen = { texts: 0 };
  const counter: TokenCounter = {
    name,
    count: (text) => {
      seen.texts += 1;
      return text.split(/\s+/).length;
    },
  };
  return { counter, seen };
}

/** What counting every message anew gives. */
async function anew(session: Session) {
  const { counter } = counting();
  return (await session.context()).messages.map((message) => messageTokens(counter, message));
}

async function measured(meter: ContextMeter, session: Session) {
  return meter.measure(await session.context());
}

describe("measuring a context", () => {
  test("gives the tokens of each message, their sum, and those of the system prompt", async () => {
    const { session } = await grown(turns(1, 3));
    const { perMessage, total, system } = await measured(new ContextMeter(session, counting().counter), session);
    expect(perMessage).toEqual(await anew(session));
    expect(total).toBe(perMessage.reduce((sum, one) => sum + one, 0));
    expect(system).toBe(0);
  });

  test("again counts only what was appended since", async () => {
    const { session } = await grown(turns(1, 20));
    const { counter, seen } = counting();
    const meter = new ContextMeter(session, counter);
    await measured(meter, session);
    seen.texts = 0;
    await measured(meter, session);
    expect(seen.texts).toBe(0);
    await plant(session, "u21");
    const { perMessage } = await measured(meter, session);
    expect(seen.texts).toBe(1);
    expect(perMessage).toEqual(await anew(session));
  });

  test("follows the leaf to another branch, an edit and an undone edit", async () => {
    const { session } = await grown(turns(1, 5));
    const meter = new ContextMeter(session, counting().counter);
    await measured(meter, session);
    await session.moveLeaf("a2");
    await plant(session, "u6 a6");
    expect((await measured(meter, session)).perMessage).toEqual(await anew(session));
    await session.append({ type: "context_edit", targetId: "r1", replacement: { content: "gone" } });
    expect((await measured(meter, session)).perMessage).toEqual(await anew(session));
    await session.moveLeaf("a5");
    expect((await measured(meter, session)).perMessage).toEqual(await anew(session));
  });
});

describe("counts that are kept in the store", () => {
  test("are not counted again by another handle", async () => {
    const { store, session } = await grown(turns(1, 30));
    const first = new ContextMeter(session, counting().counter);
    await measured(first, session);
    await first.flush();
    const other = await store.openSession(session.id);
    const { counter, seen } = counting();
    const { perMessage } = await measured(new ContextMeter(other, counter), other);
    expect(seen.texts).toBe(0);
    expect(perMessage).toEqual(await anew(other));
  });

  test("are stored separately for each counter", async () => {
    const { session } = await grown(turns(1, 30));
    const first = new ContextMeter(session, counting().counter);
    await measured(first, session);
    await first.flush();
    const { counter, seen } = counting("other words");
    await measured(new ContextMeter(session, counter), session);
    expect(seen.texts).toBeGreaterThan(0);
  });

  test("are those of the stored entry, not of an edit on one path", async () => {
    const { store, session } = await grown(turns(1, 30));
    await session.append({ type: "context_edit", targetId: "r1", replacement: { content: "gone" } });
    const edited = new ContextMeter(session, counting().counter);
    await measured(edited, session);
    await edited.flush();
    const other = await store.openSession(session.id);
    expect((await measured(new ContextMeter(other, counting().counter), other)).perMessage).toEqual(await anew(other));
    await other.moveLeaf("a30");
    expect((await measured(new ContextMeter(other, counting().counter), other)).perMessage).toEqual(await anew(other));
  });

  test("are those of the stored entry also if another leaf than the current one is measured", async () => {
    const { store, session } = await grown(turns(1, 30));
    const edit = await session.append({ type: "context_edit", targetId: "r1", replacement: { content: "gone" } });
    const context = await session.context();
    // A background run measures the path that it was started on; the person has gone back meanwhile.
    await session.moveLeaf("a30");
    const meter = new ContextMeter(session, counting().counter);
    await meter.measure(context, edit.id);
    await meter.flush();
    const other = await store.openSession(session.id);
    expect((await measured(new ContextMeter(other, counting().counter), other)).perMessage).toEqual(await anew(other));
  });

  test("that cannot be written are no error: the store is closed", async () => {
    const store = await openedStore();
    const session = await store.createSession({});
    await session.append(userMessage("hello there"));
    const meter = new ContextMeter(session, counting().counter);
    await measured(meter, session);
    await store.close();
    await expect(meter.flush()).resolves.toBeUndefined();
  });
});
