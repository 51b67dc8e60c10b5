// One of several processes that use one store at once. Its argument is its name. Each line of its input says what to do: `what`, the `path`
// of the store, `sessionId` and `count` of entries. It opens the store, works, closes it, and prints the errors that it saw as a line of JSON.
import { createInterface } from "node:readline";
import { openStore, userMessage } from "@bough/session-core";

const name = process.argv[2];
let [what, path, sessionId, count] = ["", "", "", 0];
let errors = [];
let store;

/** Does it; an error is remembered by its code. */
async function attempt(body) {
  try {
    return await body();
  } catch (error) {
    errors.push(error.code ?? String(error));
    return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  ({ what, path, sessionId, count } = JSON.parse(line));
  errors = [];
  store = await attempt(() => openStore({ path }));
  if (store !== undefined) {
    await (what === "open-or-create" ? openEach() : what === "count" ? countUp() : appendAll());
    await attempt(() => store.close());
  }
  process.stdout.write(`${JSON.stringify(errors)}\n`);
}

/** Opens or creates each of `count` sessions, and appends one entry to it. */
async function openEach() {
  const first = [{ kind: "entry", entry: { ...userMessage("first"), id: "first" } }];
  for (let at = 0; at < count; at += 1) {
    await attempt(async () => {
      const session = await store.openOrCreateSession(`thread-${at}`, { title: name }, { writes: first });
      await session.append({ ...userMessage(name), id: name }, { parentId: "first" });
    });
  }
}

/** Adds 1 to a value of the session, `count` times. */
async function countUp() {
  const session = await store.openSession(sessionId);
  for (let at = 0; at < count; at += 1) await attempt(() => session.values.update("count", (present) => (present ?? 0) + 1));
}

async function appendAll() {
  const session = await attempt(() => opened());
  for (let at = 0; session !== undefined && at < count; at += 1) {
    await attempt(() => session.append({ ...userMessage(`${name} ${at}`), id: `${name}-${at}` }, { onConflict: conflict() }));
    if (what === "upkeep" && at % 50 === 49) await attempt(() => lookAndTidy(session, at + 1));
  }
}

/** Finds exactly what this process has appended, packs, and deletes a session that it made for that. */
async function lookAndTidy(session, appended) {
  const { total } = await store.search({ query: name });
  if (total !== appended) throw new Error(`${name} finds ${total} of ${appended}`);
  await store.pack({ scope: "old" });
  const other = await store.createSession();
  await other.append(userMessage("nothing to look for"));
  await store.deleteSession(other.id);
  await session.context();
}

async function opened() {
  if (what === "own-session" || what === "create" || what === "upkeep") return store.createSession({ id: `session-${name}` });
  return store.openSession(sessionId, what === "own-leaf" ? { leaf: name } : {});
}

function conflict() {
  return what === "follow" || what === "branch" ? what : "error";
}
