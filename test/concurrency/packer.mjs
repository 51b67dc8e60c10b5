// One of several processes that append to, pack, search and delete from one store at once. Arguments: what to do, store, name, how often.
// It says as JSON what was acknowledged, which errors it saw, and the bytes of what it has deleted, in hexadecimal.
import { randomBytes } from "node:crypto";
import { openStore, userMessage } from "@bough/session-core";
import Database from "better-sqlite3";

const [what, path, name, count] = process.argv.slice(2);
const said = { acknowledged: [], deleted: [], errors: [] };
const TEXT = "some text ";

/** Does it; an error is remembered by its code. */
async function attempt(body) {
  try {
    return await body();
  } catch (error) {
    said.errors.push(error.code ?? String(error));
    return undefined;
  }
}

const entryOf = (id) => ({ ...userMessage(`${id} ${TEXT.repeat(id.length % 5)}`), id });

async function append(store) {
  const [shared, own] = [await store.openSession("shared"), await store.createSession({ id: `own-${name}` })];
  for (let at = 0; at < Number(count) * 10; at += 1) {
    const id = `${name}-${at}`;
    const done = await attempt(() => (at % 2 === 0 ? shared : own).append(entryOf(id), { onConflict: "follow" }));
    if (done !== undefined) said.acknowledged.push(id);
  }
}

async function pack(store) {
  for (let at = 0; at < Number(count); at += 1) await attempt(() => store.pack({ scope: at % 3 === 0 ? "all" : "old" }));
}

/** Makes sessions of text that compresses badly, and deletes each as rows or as a block. */
async function deleteSessions(store) {
  for (let at = 0; at < Number(count); at += 1) {
    const id = `gone-${name}-${at}`;
    const texts = [0, 1, 2].map(() => randomBytes(600).toString("base64"));
    await attempt(async () => {
      const session = await store.createSession({ id });
      await session.write(texts.map((text) => ({ kind: "entry", entry: userMessage(text) })));
      if (at % 2 === 0) while ((await store.storage.packing.next("all")) !== undefined);
    });
    said.deleted.push(...texts.map((text) => Buffer.from(text).toString("hex")), ...blocksOf(id));
    await attempt(() => store.deleteSession(id));
  }
}

/** What the file holds of a session in blocks; of each the middle, which no other block has. */
function blocksOf(id) {
  const file = new Database(path, { readonly: true, timeout: 5_000 });
  const query = "SELECT data FROM payload_block JOIN session ON session.seq = session_seq WHERE session.id = ?";
  const blocks = file.prepare(query).pluck().all(id);
  file.close();
  return blocks.map((data) => data.subarray(200, 260).toString("hex"));
}

/** Reads everything again and again: every search finds at least what the one before has found. */
async function read(store) {
  const session = await store.openSession("shared");
  let found = 0;
  for (let at = 0; at < Number(count); at += 1) {
    await attempt(() => readAll(session));
    await attempt(async () => {
      const { total } = await store.search({ query: "text", sessionId: "shared" });
      if (total < found) throw new Error(`${total} found after ${found}`);
      found = total;
    });
    if (at % 3 === 0) await attempt(() => verify(store));
  }
}

/** Every entry says its own id. */
async function readAll(session) {
  for await (const { id, message } of session.entries())
    if (message?.content.split(" ")[0] !== id) throw new Error(`${id} says ${message?.content}`);
  const entries = await session.entriesSince(0, 1_000);
  if (entries.length > 0) await session.context({ leafId: entries.at(-1).id });
}

async function verify(store) {
  for await (const { message } of store.verify()) throw new Error(message);
}

const store = await attempt(() => openStore({ path, mode: what === "read" ? "read-only" : "read-write" }));
if (store !== undefined) {
  await attempt(() => ({ append, pack, delete: deleteSessions, read })[what](store));
  await attempt(() => store.close());
}
process.stdout.write(JSON.stringify(said));
