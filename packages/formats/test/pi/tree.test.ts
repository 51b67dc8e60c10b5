import { describe, expect, test } from "vitest";
import { at, entriesOf, fileOf, HEADER, leafOf, problemsOf, recordsOf, sessionIn, treeOf, user } from "./pi-files.js";

const label = (id: string, parentId: string | null, targetId: string, text?: string) =>
  at(id, parentId, { type: "label", targetId, label: text });
const title = (id: string, parentId: string | null, name: string) => at(id, parentId, { type: "session_info", name });

describe("the tree of a session", () => {
  test("is the one in the file: branches, and several first entries", () => {
    expect(treeOf(recordsOf([user("a", null), user("b", "a"), user("c", "a"), user("d", null)]))).toEqual(["a<", "b<a", "c<a", "d<"]);
  });

  test("is a chain where the file has a reply without a parent, as programs write it that record no tree", () => {
    const reply = (id: string) => at(id, null, { type: "message", message: { role: "assistant", content: [], timestamp: 1 } });
    const records = [at("m", null, { type: "model_change", provider: "p", modelId: "x" }), user("a", null), reply("b"), user("c", null)];
    expect(treeOf(recordsOf(records))).toEqual(["m<", "a<m", "b<a", "c<b"]);
    const session = sessionIn(fileOf([HEADER, ...records.slice(0, 2)]));
    expect(treeOf([...session.records()])).toEqual(["m<", "a<"]);
    const grown = sessionIn(fileOf([HEADER, ...records, reply("d")])).records(session.position?.());
    expect(treeOf([...grown])).toEqual(["b<a", "c<b", "d<c"]);
  });

  test("has the messages before a header that is not the first line", () => {
    const path = fileOf([user("a", null), HEADER, user("b", "a")]);
    expect(treeOf([...sessionIn(path).records()])).toEqual(["a<", "b<a"]);
  });

  test("passes on a parent that is not in the file, for the writer to judge", () => {
    const records = recordsOf([user("a", null), "{ torn", user("c", "b")]);
    expect(treeOf(records)).toEqual(["a<", "c<b"]);
    expect(problemsOf(records)).toMatchObject([{ code: "malformed-line", line: 3 }]);
  });

  test("ends before a last line that was torn", () => {
    const records = [...sessionIn(fileOf([HEADER, user("a", null), '{"type":"mess'], "")).records()];
    expect(treeOf(records)).toEqual(["a<"]);
    expect(problemsOf(records)).toMatchObject([{ code: "torn-line", line: 3 }]);
  });

  test("gives entries without an id or a parent one, even below a header of version 3", () => {
    const message = { type: "message", message: { role: "user", content: "hi" } };
    const [first, second] = entriesOf(recordsOf([message, message]));
    expect(second?.parentId).toBe(first?.id);
    expect(second?.id).not.toBe(first?.id);
  });

  test("can be read again from the same session, with the same result", () => {
    const session = sessionIn(fileOf([HEADER, user("a", null), label("l", "a", "a", "here")]));
    expect([...session.records()]).toEqual([...session.records()]);
  });
});

describe("labels and titles", () => {
  test("are no entries: what hangs below them moves up to the entry above", () => {
    const records = recordsOf([user("a", null), label("l", "a", "a", "x"), title("t", "l", "T"), user("b", "t"), user("c", "l")]);
    expect(treeOf(records)).toEqual(["a<", "b<a", "c<a"]);
  });

  test("become records of their own, in file order; an empty one takes the label or title away", () => {
    const lines = [label("l1", "a", "a", "x"), label("l2", "l1", "a"), title("t1", "l2", " T "), title("t2", "t1", "")];
    const said = recordsOf([user("a", null), ...lines]).filter(({ kind }) => kind !== "entry");
    expect(said).toEqual([
      { kind: "label", entryId: "a", label: "x", createdAtMs: Date.parse("2026-01-02T03:04:06.000Z") },
      { kind: "label", entryId: "a", label: null, createdAtMs: Date.parse("2026-01-02T03:04:06.000Z") },
      { kind: "title", title: "T", source: "user" },
      { kind: "title", title: null, source: "user" },
    ]);
  });

  test("of oh-my-pi say who chose the title, and its title line has the last word", () => {
    const change = at("t", "a", { type: "title_change", title: "Draft", source: "auto" });
    const path = fileOf([{ type: "title", v: 1, title: "Final", source: "user" }, HEADER, user("a", null), change]);
    expect([...sessionIn(path).records()].filter(({ kind }) => kind === "title")).toEqual([
      { kind: "title", title: "Draft", source: "auto" },
      { kind: "title", title: "Final", source: "user" },
    ]);
  });

  test("that name nothing are reported", () => {
    expect(problemsOf(recordsOf([at("l", null, { type: "label", label: "x" })]))).toMatchObject([{ code: "invalid-record", line: 2 }]);
  });
});

describe("the leaf", () => {
  test("is the last entry, also behind trailing labels", () => {
    expect(leafOf(recordsOf([user("a", null), user("b", "a"), label("l", "b", "a", "x")]))).toBe("b");
  });

  test("is where the last line stands: a label set after going back leaves the session there, as in pi", () => {
    expect(leafOf(recordsOf([user("a", null), user("b", "a"), label("l", "a", "b", "x")]))).toBe("a");
    expect(leafOf(recordsOf([user("a", null), title("t", null, "T")]))).toBe(null);
  });

  test("is the last entry when the last label hangs on a line that is lost", () => {
    expect(leafOf(recordsOf([user("a", null), "{ torn", label("l", "gone", "a", "x")]))).toBe("a");
  });
});

describe("the time of an entry", () => {
  const message = (timestamp: unknown) => ({ type: "message", message: { role: "user", content: "", timestamp } });
  const times = (...records: readonly Record<string, unknown>[]) => entriesOf(recordsOf(records)).map(({ createdAtMs }) => createdAtMs);

  test("is its own, else its message's, else the one before it, else the header's", () => {
    expect(times({ type: "custom", customType: "x" })).toEqual([Date.parse(HEADER.timestamp)]);
    expect(times({ ...message(7), timestamp: "2026-01-01T00:00:00.000Z" })).toEqual([Date.UTC(2026, 0, 1)]);
    expect(times({ ...message(7), timestamp: "yesterday" }, message(null))).toEqual([7, 7]);
  });
});
