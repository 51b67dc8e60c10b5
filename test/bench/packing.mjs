import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { deflateRawSync, gunzipSync } from "node:zlib";
import { openStore } from "@bough/session-core";
import Database from "better-sqlite3";
import { openBare } from "./baseline.mjs";
import { median, timed } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "packing";

/** MB of payload in a second, at least. */
const LEAST_RATE = 30;
const BLOCK = 64;
const OLD_STORE = join(dirname(fileURLToPath(import.meta.url)), "../../packages/session-core/test/fixtures/store-version-3.db.gz");

export async function run(bench) {
  const size = Math.min(100_000, bench.sizes.at(-1));
  const made = await bench.stores.unpacked(size);
  const megabytes = made.payloadBytes / 1e6;
  await packing(bench, made, size, megabytes);
  await inPauses(bench, made, size);
  await upgrade(bench, made, size, megabytes);
}

/** The whole store, by the library and by a loop that does the same on the same tables; ours with and without the rewriting of the file. */
async function packing({ report, stores, rounds }, made, size, megabytes) {
  const times = { pack: [], blocks: [], bare: [] };
  for (let round = 0; round < rounds(3); round++) {
    times.pack.push(await packed(stores.copy(made).path, times.blocks));
    times.bare.push(packByHand(stores.copy(made).path));
  }
  const rate = (list) => megabytes / (median(list) / 1000);
  report.rate("packing, MB of payload a second", size, rate(times.blocks), LEAST_RATE, { baseline: rate(times.bare) });
  report.rate("packing, index merged and free pages returned", size, rate(times.pack), LEAST_RATE);
}

async function packed(path, blocks) {
  return withStore({ path, durability: "normal" }, (store) => {
    const start = performance.now();
    return timed(() =>
      store.pack({
        onProgress: (done, total) => {
          if (done === total) blocks.push(performance.now() - start);
        },
      }),
    );
  });
}

function packByHand(path) {
  const file = openBare(path, "normal");
  const rows = file.prepare(
    "SELECT entry.seq, json FROM entry JOIN payload ON entry_seq = entry.seq WHERE session_seq = 1 AND seq > ? ORDER BY seq LIMIT ?",
  );
  const insert = file.prepare(
    "INSERT INTO payload_block (session_seq, first_seq, last_seq, entries, payload_bytes, codec, checksum, data) VALUES (1, ?, ?, ?, ?, 1, 0, ?)",
  );
  const remove = file.prepare("DELETE FROM payload WHERE entry_seq BETWEEN ? AND ?");
  const replace = file.transaction((block) => {
    const [first, last] = [block[0].seq, block.at(-1).seq];
    const texts = Buffer.from(block.map(({ json }) => json).join(""));
    remove.run(first, last);
    insert.run(first, last, block.length, texts.length, deflateRawSync(texts));
  }).immediate;
  const start = performance.now();
  for (let block = rows.all(0, BLOCK); block.length > 0; block = rows.all(block.at(-1).seq, BLOCK)) replace(block);
  const took = performance.now() - start;
  file.close();
  return took;
}

/** Packing behind the appends of a host: how long the event loop stands still. */
async function inPauses({ report, stores }, made, size) {
  const { path, sessionId } = stores.copy(made);
  await withStore({ path, durability: "normal" }, async (store) => {
    const session = await store.openSession(sessionId);
    const script = messages(61);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const entry = () => ({ kind: "entry", entry: { type: "message", message: script.next().value } });
    await session.write(Array.from({ length: 200 }, entry));
    delay.enable();
    await wait(3000);
    delay.disable();
    const note = "in 3 seconds after 200 appends; the median of the delays is that of the timer";
    report.absolute("event loop blocked while a store is packed, longest", size, delay.max / 1e6, null, {
      note,
      baseline: delay.percentile(50) / 1e6,
    });
  });
}

/** Opening a store of the format before, which is upgraded and packed. */
async function upgrade({ report, stores, rounds }, made, size, megabytes) {
  const old = { path: stores.path("old.db") };
  makeOldStore(old.path, made.path);
  const times = [];
  for (let round = 0; round < rounds(3); round++) {
    const { path } = stores.copy(old);
    let store;
    times.push(
      await timed(async () => {
        store = await openStore({ path });
      }),
    );
    await store.close();
  }
  report.rate("upgrade of a store of the format before", size, megabytes / (median(times) / 1000), null);
}

/** Writes the entries of an unpacked store into the tables of version 3, which the fixture of the tests has. */
function makeOldStore(path, source) {
  writeFileSync(path, gunzipSync(readFileSync(OLD_STORE)));
  const file = new Database(path);
  file.pragma("foreign_keys = OFF");
  file.prepare("ATTACH ? AS whole").run(source);
  file.exec("DELETE FROM store_state; INSERT INTO entry_text (entry_text) VALUES ('delete-all')");
  for (const table of ["entry_waypoint", "file_operation", "leaf", "leaf_move", "label", "value", "usage_total", "entry", "session"]) {
    file.exec(`DELETE FROM main.${table}`);
    copyTable(file, table);
  }
  file.exec("INSERT INTO store_state SELECT * FROM whole.store_state");
  file.pragma("journal_mode = WAL");
  file.close();
}

function copyTable(file, table) {
  const columns = file.pragma(`main.table_info(${table})`).map(({ name }) => name);
  const newer = {
    first_kept_seq: "CASE type WHEN 'compaction' THEN target_seq END",
    failed_call_id: "iif(is_error, call_id, NULL)",
    payload_json: "json",
  };
  const source = table === "entry" ? "whole.entry JOIN whole.payload ON entry_seq = entry.seq" : `whole.${table}`;
  file.exec(`INSERT INTO main.${table} SELECT ${columns.map((name) => newer[name] ?? name).join(", ")} FROM ${source}`);
}
