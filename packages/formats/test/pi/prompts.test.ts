import { openStore } from "@bough/session-core";
import { ReadFromStartError, type SourceRecord } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { exportPi, importPath } from "../../src/index.js";
import { at, entriesOf, fileOf, HEADER, recordsOf, sessionIn, user } from "./pi-files.js";

const prompt = (id: string, parentId: string | null, message: Record<string, unknown>) =>
  at(id, parentId, { type: "message", message: { role: "system", content: "", timestamp: 1, ...message } });

const SECTIONS = { preamble: "You are an expert.", tools: "- read", cwd: "/project" };
const WHOLE = prompt("s", null, { sections: SECTIONS, toolsAdded: [{ name: "read" }] });
const CHANGE = prompt("c", "u", { sections: { skills: "- deploy", tools: null } });
const TOOLS = prompt("t", "c", { toolsRemoved: [{ name: "read" }] });
const RECORDS = [WHOLE, user("u", "s"), CHANGE, TOOLS, user("v", "t")];

describe("the system prompt of pi", () => {
  test("is the text of its sections, which stay beside it", () => {
    const [entry] = entriesOf(recordsOf(RECORDS));
    const content = "You are an expert.\n\n- read\n\n/project";
    expect(entry?.payload).toEqual({
      type: "message",
      message: { role: "system", content, timestamp: 1, sections: SECTIONS, toolsAdded: [{ name: "read" }] },
    });
  });

  test("that changes later is a hidden message with the changes, and stays the instructions of the context", async () => {
    const store = await openStore({ path: ":memory:" });
    const { sessions } = await importPath(store, fileOf([HEADER, ...RECORDS]));
    const session = await store.openSession(sessions[0]?.sessionId ?? "");
    const { messages, system } = await session.context();
    await store.close();
    expect(system).toBe("You are an expert.\n\n- read\n\n/project");
    expect(messages[1]).toMatchObject({
      role: "custom",
      customType: "pi.system",
      content: 'Updated system prompt section "skills":\n\n- deploy\n\nRemoved system prompt section "tools".',
      display: false,
    });
  });

  test("has changes of tools alone outside the context", () => {
    expect(entriesOf(recordsOf(RECORDS))[3]?.payload).toEqual({ type: "custom", customType: "pi.system", data: TOOLS["message"] });
  });

  test("is known to a reading that goes on where the file ended", () => {
    const path = fileOf([HEADER, ...RECORDS.slice(0, 2)]);
    const first = sessionIn(path);
    const before = entriesOf(first.records());
    const whole = fileOf([HEADER, ...RECORDS]);
    const after = entriesOf(sessionIn(whole).records(first.position?.()));
    expect([...before, ...after]).toEqual(entriesOf(sessionIn(whole).records()));
  });

  test("is written for pi as pi wrote it", async () => {
    const store = await openStore({ path: ":memory:" });
    const { sessions } = await importPath(store, fileOf([HEADER, ...RECORDS]));
    const session = await store.openSession(sessions[0]?.sessionId ?? "");
    const lines: Record<string, unknown>[] = [];
    for await (const line of exportPi(session, { secrets: "keep" }))
      lines.push(
        ...line
          .trim()
          .split("\n")
          .map((text) => JSON.parse(text)),
      );
    await store.close();
    for (const record of [WHOLE, CHANGE, TOOLS]) {
      const written = lines.find(({ id }) => id === record["id"]);
      expect(written).toMatchObject({ type: "message", parentId: record["parentId"], message: record["message"] });
    }
  });
});

describe("a store of the reader before", () => {
  /** The payload of a system message as it was stored: the message of the file. */
  const asBefore = (record: SourceRecord, lines: readonly Record<string, unknown>[]): SourceRecord => {
    const message = record.kind === "entry" ? lines.find(({ id }) => id === record.id)?.["message"] : undefined;
    const isPrompt = typeof message === "object" && message !== null && "role" in message && message.role === "system";
    return record.kind === "entry" && isPrompt ? { ...record, payload: { type: "message", message }, payloadJson: undefined } : record;
  };

  test("keeps its entries when the file is imported again", async () => {
    const path = fileOf([HEADER, ...RECORDS]);
    const source = sessionIn(path);
    const store = await openStore({ path: ":memory:" });
    const before = {
      ...source,
      *records() {
        for (const record of source.records()) yield asBefore(record, RECORDS);
      },
    };
    await store.importSession(before, { format: "pi", path });
    const { sessions } = await importPath(store, path);
    expect(sessions).toMatchObject([{ sessionId: source.header.sessionId, problems: [] }]);
    expect((await store.listSessions()).items).toMatchObject([{ id: source.header.sessionId, entryCount: RECORDS.length }]);
    await store.close();
  });

  test("reads a file from its start whose state says nothing of a system message", () => {
    const session = sessionIn(fileOf([HEADER, ...RECORDS.slice(0, 2)]));
    for (const _record of session.records());
    const position = session.position?.();
    const { hasPrompt: _known, ...state } = { ...position?.state } as Record<string, unknown>;
    const grown = sessionIn(fileOf([HEADER, ...RECORDS]));
    expect(() => [...grown.records(position && { ...position, state })]).toThrow(ReadFromStartError);
  });
});
