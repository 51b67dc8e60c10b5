import { openStore } from "@bough/session-core";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { serverPlace } from "../../../.ci/test-engine.js";
import { grow } from "../../session-core/test/world/grow.js";
import { findingsOf, openedStore } from "../../session-core/test/world/stores.js";

/** What is broken in the session `damaged` of a tenant, by statements on its rows, after the store was closed. */
async function findingsAfter(damage: string) {
  const place = serverPlace();
  const store = await openStore(place);
  const { session } = await grow("s1 m1 u1 a1 u2 @u1 h1 u3 k1 r1:k1 c1:u3 u4 x1:u3 u5", {
    store,
    session: { id: "damaged", title: "Title", metadata: { a: 1 } },
  });
  const secret = { role: "bashExecution", command: "env", output: "", excludeFromContext: true } as const;
  await session.append({ type: "message", message: secret, id: "b1" }, { parentId: "u3" });
  await session.labels.set("u1", "here");
  await session.values.set("key", 1);
  await grow("u1 a1", { store, session: { id: "whole" } });
  expect(await findingsOf(store)).toEqual([]);
  await store.close();
  if ("url" in place) await change(place.url, place.schema, place.tenant, damage);
  return findingsOf(await openedStore(place));
}

async function change(url: string, schema: string, tenant: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET search_path = ${schema}`);
    await client.query(statement.replaceAll("OF_IT", `tenant = '${tenant}' AND session_id = 'damaged'`));
  } finally {
    await client.end();
  }
}

const seq = (id: string) => `(SELECT seq FROM entry WHERE OF_IT AND id = '${id}')`;
const entry = (id: string, what: string) => `UPDATE entry SET ${what} WHERE OF_IT AND id = '${id}'`;

describe("verify of a store on a server", () => {
  test.each([
    ["a wrong depth", entry("u2", "depth = 9"), "wrong-depth", "u2"],
    ["a parent that is not there", entry("a1", "parent_seq = -1"), "parent-not-older", "a1"],
    ["a model that is not its parent's", entry("u2", "model_seq = NULL"), "wrong-inheritance", "u2"],
    ["a model change that does not count at itself", entry("m1", "model_seq = NULL"), "wrong-inheritance", "m1"],
    ["a thinking level that is not its parent's", entry("u4", "thinking_seq = NULL"), "wrong-inheritance", "u4"],
    ["a system message that is not its parent's", entry("u4", `system_seq = ${seq("u1")}`), "wrong-inheritance", "u4"],
    ["a compaction that does not count at itself", entry("c1", "compaction_seq = NULL"), "wrong-inheritance", "c1"],
    ["a first kept entry of another branch", entry("c1", `target_seq = ${seq("u2")}`), "first-kept-off-path", "c1"],
    ["a copy whose original is gone", entry("u2", "inherited = true, origin = 'gone e'"), "wrong-origin", "u2"],
    ["a copy that counts beside its original", entry("u2", "origin = 'whole u1'"), "wrong-origin", "u2"],
    [
      "a copy of a copy",
      `${entry("u2", "inherited = true, origin = 'damaged u1'")}; ${entry("u1", "origin = 'key'")}`,
      "wrong-origin",
      "u2",
    ],
    ["a copy of itself", entry("u2", "origin = 'damaged u2'"), "wrong-origin", "u2"],
    ["a payload that no longer fits", entry("u2", "payload = '{}'"), "invalid-payload", "u2"],
    ["a payload that is no JSON", entry("u2", "payload = '{'"), "invalid-payload", "u2"],
    ["a payload of another size", entry("u2", "payload_bytes = 1"), "wrong-size", "u2"],
    ["a custom type of what has none", entry("u2", "custom_type = 'note'"), "wrong-custom-type", "u2"],
    ["a private entry that searches find", entry("b1", "is_private = false"), "wrong-private", "b1"],
    ["an entry that the search lost", entry("u2", "words = ''"), "search-index", "u2"],
    ["a title that the search lost", "DELETE FROM session_title WHERE OF_IT", "search-index", null],
    ["a run that is gone", `DELETE FROM run WHERE OF_IT AND start_seq = ${seq("h1")}`, "wrong-run", null],
    ["a run with another parent", `UPDATE run SET parent_seq = 1 WHERE OF_IT AND start_seq = ${seq("h1")}`, "wrong-run", null],
    ["a wrong number of entries of a kind", "UPDATE session SET kind_counts = '{1,2,3}' WHERE OF_IT", "wrong-count", null],
    ["an entry that is gone", "DELETE FROM entry WHERE OF_IT AND id = 'u5'", "wrong-count", null],
    ["a wrong count of messages", "UPDATE session SET message_count = 1 WHERE OF_IT", "wrong-count", null],
    ["a wrong number of the newest entry", "UPDATE session SET last_seq = 99 WHERE OF_IT", "wrong-count", null],
    ["a leaf at no entry", "UPDATE leaf SET entry_seq = 999 WHERE OF_IT", "leaf-off-session", null],
    ["a session without its main leaf", "DELETE FROM leaf WHERE OF_IT", "leaf-off-session", null],
    ["a label of no entry", "UPDATE label SET entry_seq = 999 WHERE OF_IT", "dangling-reference", null],
    ["a member that is not in the metadata", "UPDATE session_metadata SET value = '2' WHERE OF_IT", "wrong-metadata", null],
    ["a value that is no JSON", "UPDATE value SET value_json = 'x' WHERE OF_IT", "damaged-value", null],
    ["rows of a session that is not there", "DELETE FROM session WHERE OF_IT", "dangling-reference", null],
  ])("finds %s", async (_what, damage, rule, entryId) => {
    const found = await findingsAfter(damage);
    expect(found).toContainEqual(expect.objectContaining({ rule, sessionId: "damaged", entryId }));
    expect(found.filter(({ sessionId }) => sessionId !== "damaged")).toEqual([]);
  });
});
