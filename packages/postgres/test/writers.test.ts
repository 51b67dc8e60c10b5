import { assistantMessage, LeafMovedError, openStore, type Session, type Store, userMessage } from "@bough/session-core";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { ownServer } from "./server.js";

const server = ownServer();

/** Four stores on one database, as four hosts have them. */
async function hosts(): Promise<readonly Store[]> {
  const url = await server.newDatabase();
  const stores: Store[] = [];
  for (let host = 0; host < 4; host++) stores.push(await openStore({ url, connections: 4 }));
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return stores;
}

const WRITERS = 32;
const EACH = 5;

/** Each of 32 handles writes five texts, all at once. Returns a store and the session. */
async function writeAtOnce(write: (session: Session, text: string) => Promise<unknown>, leaf: (writer: number) => string = () => "main") {
  const stores = await hosts();
  const [store] = stores;
  if (store === undefined) throw new Error("There is no store.");
  const { id } = await store.createSession();
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const session = await stores[writer % stores.length]?.openSession(id, { leaf: leaf(writer) });
    if (session === undefined) throw new Error("There is no session.");
    for (let at = 0; at < EACH; at++) await write(session, `w${writer}-${at}`);
  });
  await Promise.all(writers);
  return { store, id };
}

const allTexts = Array.from({ length: WRITERS }, (_, writer) => textsOfWriter(writer)).flat();

function textsOfWriter(writer: number): readonly string[] {
  return Array.from({ length: EACH }, (_, at) => `w${writer}-${at}`);
}

/** The texts of a path, in order. */
async function textsOf(session: Session): Promise<readonly string[]> {
  return (await session.context()).messages.map((message) => (message.role === "user" ? String(message.content) : message.role));
}

describe("32 writers on one session, of four hosts", () => {
  test("that follow each other write one line, each in its order", async () => {
    const { store, id } = await writeAtOnce((session, text) => session.append(userMessage(text), { onConflict: "follow" }));
    const texts = await textsOf(await store.openSession(id));
    expect([...texts].sort()).toEqual([...allTexts].sort());
    for (let writer = 0; writer < WRITERS; writer++) {
      expect(texts.filter((text) => text.startsWith(`w${writer}-`))).toEqual(textsOfWriter(writer));
    }
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that decide again after each conflict lose nothing", async () => {
    const { store, id } = await writeAtOnce(async (session, text) => {
      for (;;) {
        try {
          return await session.append(userMessage(text));
        } catch (error) {
          if (!(error instanceof LeafMovedError)) throw error;
          await session.refresh();
        }
      }
    });
    expect([...(await textsOf(await store.openSession(id)))].sort()).toEqual([...allTexts].sort());
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that branch keep all entries, and each its own line from where it last saw the leaf", async () => {
    const { store, id } = await writeAtOnce((session, text) => session.append(userMessage(text), { onConflict: "branch" }));
    const session = await store.openSession(id);
    const rows = await session.tree.outline();
    expect(rows.map(({ preview }) => preview).sort()).toEqual([...allTexts].sort());
    expect(rows.map(({ seq }) => seq)).toEqual(allTexts.map((_, at) => at + 1));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("on leaves of their own have each a line of its own", async () => {
    const { store, id } = await writeAtOnce(
      (session, text) => session.append(userMessage(text)),
      (writer) => `writer ${writer}`,
    );
    for (let writer = 0; writer < WRITERS; writer++) {
      expect(await textsOf(await store.openSession(id, { leaf: `writer ${writer}` }))).toEqual(textsOfWriter(writer));
    }
    expect(await findingsOf(store)).toEqual([]);
  });
});

describe("an append to a server", () => {
  test("below a leaf that has not moved is one statement, also where other leaves of the session grow meanwhile", async () => {
    const [store] = await hosts();
    const session = await store?.createSession();
    const other = session && (await store?.openSession(session.id, { leaf: "other" }));
    if (session === undefined || other === undefined) throw new Error("There is no session.");
    const reply = assistantMessage("the same words", { model: "m", provider: "p", usage: { input: 1, output: 2 } });
    await session.write([{ kind: "entry", entry: userMessage("the same words") }]);
    // From here on, both know the text that stands for a missing title.
    await other.write([userMessage("other words"), reply].map((entry) => ({ kind: "entry", entry })));
    const sent = vi.spyOn(pg.Client.prototype, "query");
    onTestFinished(() => sent.mockRestore());
    for (const handle of [session, other, other, session]) {
      await handle.append(reply);
      await handle.write([userMessage("the same words"), reply].map((entry) => ({ kind: "entry", entry })));
    }
    const statements = sent.mock.calls.map((given) => JSON.stringify(given));
    // Connections that are opened meanwhile, to listen or to announce, are set up by statements that name no entry.
    const written = statements.filter(
      (statement) => /\bentry\b|BEGIN|COMMIT|store_version/.test(statement) && !statement.includes("NOTIFY"),
    );
    expect(written).toHaveLength(8);
  });
});
