// A process that syncs a home and says after each step how many sessions are in the store, and is killed. Arguments: store, home.
import { writeSync } from "node:fs";
import { syncSessions } from "@bough/formats";
import { openStore } from "@bough/session-core";

const [path, home] = process.argv.slice(2);
const store = await openStore({ path });
const onProgress = ({ sessionsDone }) => writeSync(1, `${sessionsDone}\n`);
await syncSessions(store, { environment: { env: {}, home, platform: "linux" }, onProgress });
await store.close();
