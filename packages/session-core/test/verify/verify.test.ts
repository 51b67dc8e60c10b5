import { describe, expect, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openStore } from "../../src/store/open-store.js";
import { grow } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

/** A closed store whose session `damaged` is then damaged behind our back; another session stays whole. */
async function damaged(sql: string): Promise<string> {
  const path = storePath();
  const store = await openStore({ path });
  const { session } = await grow("s1 m1 u1 a1 u2 @u1 h1 u3 k1 r1:k1 c1:u3 u4 x1:u3 u5", { store, session: { id: "damaged" } });
  const secret = { role: "bashExecution", command: "env", output: "", excludeFromContext: true } as const;
  await session.append({ type: "message", message: secret, id: "b1" }, { parentId: "u3" });
  await session.values.set("large", "x".repeat(70_000));
  await grow("u1 a1", { store, session: { id: "whole" } });
  await store.catchUpSearch();
  await store.close();
  raw(path, (file) => file.exec(`PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; ${sql}`));
  return path;
}

const of = (id: string) => `(SELECT seq FROM entry WHERE id = '${id}' AND session_seq = 1)`;
const change = (id: string, what: string) => `UPDATE entry SET ${what} WHERE seq = ${of(id)}`;
const rewrite = (id: string, json: string) => `UPDATE payload SET json = '${json}' WHERE entry_seq = ${of(id)}`;

const DAMAGES: readonly (readonly [what: string, sql: string, rule: string, entryId: string | null])[] = [
  ["a parent that is younger", change("a1", `parent_seq = ${of("u5")}`), "parent-not-older", "a1"],
  ["a parent that is itself", change("a1", "parent_seq = seq"), "parent-not-older", "a1"],
  [
    "a parent of another session",
    `UPDATE entry SET parent_seq = ${of("u1")} WHERE id = 'a1' AND session_seq = 2`,
    "parent-not-older",
    "a1",
  ],
  ["a parent that is not there", change("a1", "parent_seq = 0"), "parent-not-older", "a1"],
  ["a wrong depth", change("u2", "depth = 9"), "wrong-depth", "u2"],
  ["a model that is not its parent's", change("u2", "model_seq = NULL"), "wrong-inheritance", "u2"],
  ["a model change that does not count at itself", change("m1", "model_seq = NULL"), "wrong-inheritance", "m1"],
  ["a thinking level that does not count at itself", change("h1", "thinking_seq = NULL"), "wrong-inheritance", "h1"],
  ["a system message that does not count at itself", change("s1", "system_seq = NULL"), "wrong-inheritance", "s1"],
  ["a model set by what sets none", change("u4", "model_seq = seq"), "wrong-inheritance", "u4"],
  ["a thinking level that is not its parent's", change("u4", "thinking_seq = NULL"), "wrong-inheritance", "u4"],
  ["a system message that is not its parent's", change("u4", `system_seq = ${of("u1")}`), "wrong-inheritance", "u4"],
  ["a compaction that is not its parent's", change("u4", "compaction_seq = NULL"), "wrong-inheritance", "u4"],
  ["a compaction that does not count at itself", change("c1", "compaction_seq = NULL"), "wrong-inheritance", "c1"],
  ["an edit that puts another compaction in force", change("x1", "compaction_seq = NULL"), "wrong-inheritance", "x1"],
  ["a first kept entry of another branch", change("c1", `target_seq = ${of("u2")}`), "first-kept-off-path", "c1"],
  ["a copy whose original is gone", change("u2", "inherited = 1, origin = 'gone e'"), "wrong-origin", "u2"],
  ["a copy that counts beside its original", change("u2", "origin = 'whole u1'"), "wrong-origin", "u2"],
  ["a copy of itself", change("u2", "origin = 'damaged u2'"), "wrong-origin", "u2"],
  ["a copy of a copy", `${change("u2", "inherited = 1, origin = 'damaged u1'")}; ${change("u1", "origin = 'key'")}`, "wrong-origin", "u2"],
  ["a payload that no longer fits", rewrite("u2", "{}"), "invalid-payload", "u2"],
  ["a payload that is no JSON", rewrite("u2", "{"), "invalid-payload", "u2"],
  ["a leaf at no entry", "UPDATE leaf SET entry_seq = 999 WHERE session_seq = 1", "leaf-off-session", null],
  [
    "a leaf at an entry of another session",
    "UPDATE leaf SET entry_seq = (SELECT max(seq) FROM entry) WHERE session_seq = 1",
    "leaf-off-session",
    null,
  ],
  ["a session without its main leaf", "DELETE FROM leaf WHERE session_seq = 1", "leaf-off-session", null],
  ["a wrong count of entries", "UPDATE session SET entry_count = 1 WHERE seq = 1", "wrong-count", null],
  ["a wrong count of messages", "UPDATE session SET message_count = 1 WHERE seq = 1", "wrong-count", null],
  ["an entry that the search index lost", `DELETE FROM entry_text WHERE rowid = ${of("u2")}`, "search-index", "u2"],
  ["a payload that is gone", `DELETE FROM payload WHERE entry_seq = ${of("u2")}`, "missing-payload", "u2"],
  ["a payload of another size", change("u2", "payload_bytes = 1"), "wrong-size", "u2"],
  ["a wrong count of payload rows", "UPDATE session SET row_count = 1 WHERE seq = 1", "wrong-count", null],
  ["a wrong size of payload rows", "UPDATE session SET row_bytes = 1 WHERE seq = 1", "wrong-count", null],
  ["a large value that is gone", "DELETE FROM large_value", "damaged-value", null],
  ["a large value that is no JSON", "UPDATE large_value SET json = 'x' || substr(json, 2)", "damaged-value", null],
  ["a large value of another size", "UPDATE large_value SET json = '1'", "damaged-value", null],
  ["a tip that is not known", `DELETE FROM tip WHERE entry_seq = ${of("u5")}`, "wrong-tip", "u5"],
  ["a tip that has children", `INSERT INTO tip VALUES (1, ${of("a1")})`, "wrong-tip", "a1"],
  ["a tip that is no entry", "INSERT INTO tip VALUES (1, 999)", "wrong-tip", null],
  ["a branch point that is not known", "DELETE FROM branch_point", "wrong-tip", "u1"],
  ["a branch point with one child", `INSERT INTO branch_point VALUES (1, ${of("a1")})`, "wrong-tip", "a1"],
  ["a wrong count of a kind", "UPDATE kind_count SET entries = 9 WHERE session_seq = 1 AND kind = 2", "wrong-count", null],
  ["a kind that is not counted", "DELETE FROM kind_count WHERE session_seq = 1 AND kind = 7", "wrong-count", null],
  ["a custom type of what has none", change("u2", "custom_type = 'note'"), "wrong-custom-type", "u2"],
  ["an entry that searches leave out, although it is not private", `INSERT INTO private_entry VALUES (${of("u2")})`, "wrong-private", "u2"],
  ["a private entry that searches find", `DELETE FROM private_entry WHERE entry_seq = ${of("b1")}`, "wrong-private", "b1"],
  ["a member of metadata that is not known", "UPDATE session SET metadata_json = '{\"a\":1}' WHERE seq = 1", "wrong-metadata", null],
  ["a member that is not in the metadata", "INSERT INTO session_metadata VALUES ('a', '1', 1)", "wrong-metadata", null],
  ["an entry that is gone", `DELETE FROM entry WHERE seq = ${of("u2")}`, "wrong-count", null],
];

describe("verifying a store", () => {
  test("finds nothing in one where all holds", async () => {
    const path = await damaged("SELECT 1");
    expect(await findingsOf(await openedStore({ path }))).toEqual([]);
  });

  test.each(DAMAGES)("finds %s", async (_what, sql, rule, entryId) => {
    const store = await openedStore({ path: await damaged(sql) });
    const found = await findingsOf(store);
    expect(found.map((finding) => [finding.rule, finding.entryId])).toContainEqual([rule, entryId]);
  });

  test("says nothing of what an entry has from its parent where that is wrong", async () => {
    const store = await openedStore({ path: await damaged(change("u2", "parent_seq = 0")) });
    const rules = (await findingsOf(store)).filter(({ entryId }) => entryId === "u2").map(({ rule }) => rule);
    expect(rules).toContain("parent-not-older");
    for (const rule of ["wrong-depth", "wrong-inheritance"]) expect(rules).not.toContain(rule);
  });

  test("tells of places, counts and leaves before it reads a payload", async () => {
    const leaf = "UPDATE leaf SET entry_seq = 999 WHERE session_seq = 1";
    const store = await openedStore({ path: await damaged(`${rewrite("u1", "{")}; ${change("u5", "depth = 99")}; ${leaf}`) });
    const rules = (await findingsOf(store)).map(({ rule }) => rule);
    const payload = rules.indexOf("invalid-payload");
    expect(payload).toBeGreaterThan(0);
    for (const rule of ["wrong-depth", "leaf-off-session"] as const) expect([rule, rules.indexOf(rule) < payload]).toEqual([rule, true]);
  });

  test("names a payload that is no JSON; whoever reads it gets a typed error", async () => {
    const store = await openedStore({ path: await damaged(rewrite("u2", "{")) });
    const session = await store.openSession("damaged");
    const readings = [session.entry("u2"), session.context({ leafId: "u2" }), store.forkSession("damaged", { at: "u2" })];
    for (const outcome of await Promise.allSettled(readings)) expect(outcome).toMatchObject({ reason: { code: "PAYLOAD_DAMAGED" } });
    expect((await session.entry("u3")).id).toBe("u3");
  });

  test("finds a reference that points nowhere", async () => {
    const path = await damaged("INSERT INTO label VALUES (1, 999, 'lost', 0)");
    expect(await findingsOf(await openedStore({ path }))).toMatchObject([{ rule: "dangling-reference" }]);
  });

  test("finds what SQLite itself finds", async () => {
    const path = await damaged(change("u2", "depth = -1"));
    expect((await findingsOf(await openedStore({ path }))).map(({ rule }) => rule)).toContain("file-damaged");
  });

  test("comes to an end where parents go in a circle", async () => {
    const path = await damaged(`${change("k1", `parent_seq = ${of("c1")}`)}; ${change("c1", `target_seq = ${of("u1")}`)}`);
    const rules = (await findingsOf(await openedStore({ path }))).map(({ rule }) => rule);
    expect(rules).toContain("parent-not-older");
  });

  test("of one session tells of that one only, in one line for a person", async () => {
    const store = await openedStore({ path: await damaged(change("u2", "depth = 9")) });
    expect(await findingsOf(store, "whole")).toEqual([]);
    expect(await findingsOf(store, "damaged")).toEqual([
      {
        rule: "wrong-depth",
        sessionId: "damaged",
        entryId: "u2",
        message: "Entry u2 of session damaged: its depth is 9, which is not one more than its parent's.",
      },
    ]);
    await expect(findingsOf(store, "nobody")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});

describe("a handle that lives on", () => {
  test("takes nothing for damage that another process has indexed since", async () => {
    const path = storePath();
    const [one, other] = [await openStore({ path }), await openStore({ path })];
    const { session } = await grow("u1", { store: one });
    await one.catchUpSearch();
    expect(await findingsOf(one)).toEqual([]);
    const writer = await other.openSession(session.id);
    for (let round = 0; round < 25; round += 1) {
      const words = Array.from({ length: 5 }, (_, at) => `word${round} ${at}`);
      await writer.write(words.map((text) => ({ kind: "entry", entry: userMessage(text) })));
      await other.catchUpSearch();
      expect(await findingsOf(one)).toEqual([]);
    }
    await one.close();
    await other.close();
  });

  test("still finds a damaged index of words", async () => {
    const path = await damaged("");
    raw(path, (file) => {
      file.unsafeMode(true);
      file.exec("UPDATE entry_text_data SET block = zeroblob(length(block)) WHERE id > 10");
    });
    const store = await openedStore({ path });
    expect((await findingsOf(store)).map(({ rule }) => rule)).toContain("file-damaged");
  });
});
