import { openStore } from "@bough/session-core";
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
