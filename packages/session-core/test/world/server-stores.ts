// Stores on the server of the tests, each of which serves one test after the other. A new connection is a process of the server that reads the catalogs
// anew: to open a store takes some 17 ms of CPU, and its first statements as much again, which is more than most tests do. To remove the rows of
// a test takes about 3 ms.
import { onTestFinished } from "vitest";
import { type ServerPlace, serverPlace } from "../../../../.ci/test-engine.js";
import { type Connection, connectTo } from "../../../../.ci/test-server.js";
import { openPostgres } from "../../../postgres/src/open.js";
import { CHANNEL_TABLE, TABLE_KEYS } from "../../../postgres/src/schema.js";
import { WORD_TABLE } from "../../../postgres/src/search-schema.js";
import type { SessionStorage } from "../../src/port/session-storage.js";
import { Store } from "../../src/store/store.js";

interface ServerStore {
  readonly place: ServerPlace;
  readonly storage: SessionStorage;
}

/** The stores that no test uses, by the number of their partitions. They have no rows. */
const idle = new Map<number, ServerStore[]>();

/** A store for one test. Its connections may have served another test, unless that one failed or closed its store. */
export async function storeOnServer(partitions: number): Promise<Store> {
  const others = idle.get(partitions) ?? [];
  idle.set(partitions, others);
  const used = others.pop() ?? (await newStore(partitions));
  let isClosed = false;
  let isReusable = false;
  const close = async () => {
    if (isReusable && !isClosed) {
      await removeRows(used.place);
      others.push(used);
      return;
    }
    isClosed = true;
    await used.storage.close();
  };
  const store = new Store({ ...used.storage, close });
  // `close` waits for what the test has started.
  onTestFinished(async ({ task }) => {
    isReusable = task.result?.state !== "fail";
    await store.close();
  });
  return store;
}

async function newStore(partitions: number): Promise<ServerStore> {
  const place = serverPlace(partitions);
  const storage = await openPostgres({ ...place, mode: "create", durability: "normal", busyTimeoutMs: 10_000, fileTools: {} });
  return { place, storage };
}

/** A storage remembers the name of its channel, and which words of its tenant are listed; a word that no text has is of no consequence. */
const KEPT: readonly string[] = [CHANNEL_TABLE, WORD_TABLE];

/** The connection that removes rows, of this process. */
let cleaner: Promise<Connection> | undefined;

async function removeRows({ url, schema, tenant }: ServerPlace): Promise<void> {
  cleaner ??= connectTo(url);
  const connection = await cleaner;
  connection.unref();
  const tables = TABLE_KEYS.map(([name]) => name).filter((name) => !KEPT.includes(name));
  await connection.query(tables.map((name) => `DELETE FROM "${schema}".${name} WHERE tenant = '${tenant}'`).join(";"));
}
