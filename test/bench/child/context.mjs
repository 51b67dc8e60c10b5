// What a program does that continues a session: import the library, open the store, build the context.
import { buildSessionContext, openStore } from "@bough/session-core";

const [path, sessionId] = process.argv.slice(2);
const store = await openStore({ path, mode: "read-write" });
const { messages } = await buildSessionContext(await store.openSession(sessionId));
if (messages.length === 0) throw new Error("an empty context");
await store.close();
