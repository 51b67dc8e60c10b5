import { expect, test } from "vitest";
import { ENTRY_TYPES, MESSAGE_ROLES, toEntryKind, toKindNumber } from "../../src/entry/kinds.js";
import { openStore } from "../../src/store/open-store.js";
import { raw, storePath } from "../world/stores.js";

const KINDS = [
  ...MESSAGE_ROLES.map((role) => ({ type: "message", role }) as const),
  ...ENTRY_TYPES.filter((type) => type !== "message").map((type) => ({ type, role: null })),
];

test("every type and role has a number, and the table shows them for it", async () => {
  const path = storePath();
  const store = await openStore({ path });
  await store.createSession({ id: "s" });
  await store.close();
  const shown = raw(path, (file) => {
    const insert = file.prepare<[number, string, number]>(
      `INSERT INTO entry (seq, session_seq, id, kind, depth, created_at_ms, is_error, omits, inherited, payload_bytes, preview)
       VALUES (?, 1, ?, ?, 0, 0, 0, 0, 0, 0, '')`,
    );
    for (const [at, { type, role }] of KINDS.entries()) insert.run(at + 1, `e${at}`, toKindNumber(type, role));
    expect(() => insert.run(99, "e99", KINDS.length + 1)).toThrow("CHECK");
    return file.prepare("SELECT type, role FROM entry ORDER BY seq").all();
  });
  expect(shown).toEqual(KINDS);
  expect(KINDS.map(({ type, role }) => toEntryKind(toKindNumber(type, role)))).toEqual(KINDS);
});
