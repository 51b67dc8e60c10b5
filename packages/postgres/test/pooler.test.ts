import { connect, createServer, type Socket } from "node:net";
import { openStore } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { grow } from "../../session-core/test/world/grow.js";
import { allWrites } from "../../session-core/test/world/writes.js";
import { ownServer, withUrl } from "./server.js";

const server = ownServer();

/** A proxy that passes on everything but the settings of a connection, as PgBouncer does with `ignore_startup_parameters`. Returns its port. */
async function settingsDropper(target: number): Promise<number> {
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    sockets.push(client, upstream);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on("error", () => other.destroy());
    client.once("data", (startup: Buffer) => {
      upstream.write(withoutOptions(startup));
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The first message of a connection: its length, the version of the protocol, and names with their values, each ended by 0. */
function withoutOptions(startup: Buffer): Buffer {
  const pairs = startup.toString("utf8", 8).match(/[^\0]+\0[^\0]*\0/g) ?? [];
  const kept = pairs.filter((pair) => !pair.startsWith("options\0"));
  expect(kept.length).toBeLessThan(pairs.length);
  const body = Buffer.from(`${kept.join("")}\0`);
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeUInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

test("a store that is opened for reading writes nothing where a pooler drops the setting that says so", async () => {
  const url = await server.newDatabase();
  await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = pg_catalog, pg_temp`);
  const writer = await openStore({ url });
  onTestFinished(() => writer.close());
  await grow("u1", { store: writer, session: { id: "s" } });
  const pooled = withUrl(url, { port: String(await settingsDropper(Number(new URL(url).port))) });
  const reader = await openStore({ url: pooled, mode: "read-only" });
  onTestFinished(() => reader.close());
  for (const write of allWrites(reader)) await expect(write(), String(write)).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
  expect(await (await writer.openSession("s")).record()).toMatchObject({ entryCount: 1, title: null, archivedAtMs: null });
  expect((await writer.listSessions({ empty: true })).items).toHaveLength(1);
  expect((await (await reader.openSession("s")).context()).messages).toHaveLength(1);
  // The channel of announcements is chosen by a writer.
  const stop = reader.onChange(() => undefined);
  expect((await reader.listSessions()).items).toHaveLength(1);
  stop();
});
