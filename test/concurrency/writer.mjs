// One of several processes that use one store at once. Arguments: what to do, store, session, name, how many entries.
// It says which errors it saw, as JSON, and nothing else.
import { openStore, userMessage } from "@bough/session-core";

const [what, path, sessionId, name, count] = process.argv.slice(2);
const errors = [];

/** Does it; an error is remembered by its code. */
async function attempt(body) {
  try {
    return await body();
  } catch (error) {
    errors.push(error.code ?? String(error));
    return undefined;
  }
}

const store = await attempt(() => openStore({ path }));
if (store !== undefined) {
  const session = await attempt(() => opened());
  for (let at = 0; session !== undefined && at < Number(count); at += 1) {
    await attempt(() => session.append({ ...userMessage(`${name} ${at}`), id: `${name}-${at}` }, { onConflict: conflict() }));
  }
  await attempt(() => store.close());
}
process.stdout.write(JSON.stringify(errors));

async function opened() {
  if (what === "own-session" || what === "create") return store.createSession({ id: `session-${name}` });
  return store.openSession(sessionId, what === "own-leaf" ? { leaf: name } : {});
}

function conflict() {
  return what === "follow" || what === "branch" ? what : "error";
}
