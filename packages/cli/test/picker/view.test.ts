import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { chooseColumns } from "../../src/picker/layout.js";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { lineWidth } from "../../src/terminal/line.js";
import { displayWidth, loadExactWidths } from "../../src/terminal/width.js";
import { type Driven, memoryStore, pickerOn, record } from "./driven.js";

beforeAll(loadExactWidths);

const SESSIONS = [
  record("Fix the parser", 1),
  record("Try a Pratt parser", 0.5, { forkOf: "Fix the parser" }),
  record("日本語のタイトルはとても長いので切られます。列はそのまま", 30, { messageCount: 1234 }),
  record("שלום עולם", 50, { payloadBytes: 123_456_789 }),
  record("e\u0301te\u0301 combining 👩‍👩‍👧", 400, { messageCount: 98_765 }),
  record("evil \u001b[31m\u202e title", 9000),
];

async function shown(columns: number, rows: number, env = {}): Promise<Driven> {
  const picker = pickerOn(await memoryStore(), { columns, rows }, { currentSessionId: "id-Fix the parser", glyphs: glyphsFor(env) });
  picker.listed(...SESSIONS);
  return picker.event({ kind: "models", models: new Map(SESSIONS.map(({ id }) => [id, "claude-sonnet-4-5"])) });
}

const MESSAGES = [
  { role: "user", text: "Fix the parser, please.\nIt loops." },
  { role: "assistant", text: "It loops because a nullable rule is repeated; here is a fix for it." },
] as const;

describe("The screen", () => {
  it.each([
    [40, 10],
    [80, 24],
    [160, 40],
  ])("at %i × %i", async (columns, rows) => {
    const picker = await shown(columns, rows);
    expect(`\n${picker.text}\n`).toMatchSnapshot("list");
    picker.press("down", "v");
    picker.event({ kind: "preview", number: picker.model.preview.number, messages: MESSAGES });
    expect(`\n${picker.text}\n`).toMatchSnapshot("preview");
    picker.press("d");
    expect(`\n${picker.text}\n`).toMatchSnapshot("question");
    picker.press("n", "v", "/").type("pars");
    const hit = {
      sessionId: "id-שלום עולם",
      sessionTitle: null,
      entryId: "e",
      seq: 1,
      type: "message",
      role: "user",
      createdAtMs: 0,
      isPrivate: false,
      snippet: "the parser of the other branch",
      matches: [[4, 10]],
      copies: [],
      score: null,
      label: null,
    } as const;
    picker.event({
      kind: "hits",
      number: picker.model.search.number,
      hits: new Map([[hit.sessionId, { hit, count: 1 }]]),
      more: false,
      chosen: null,
    });
    expect(`\n${picker.text}\n`).toMatchSnapshot("search");
    const snippet = `${"of the words before ".repeat(3)}zebra`;
    const far = { ...hit, snippet, matches: [[snippet.length - 5, snippet.length]] as const };
    picker.event({
      kind: "hits",
      number: picker.model.search.number,
      hits: new Map([[hit.sessionId, { hit: far, count: 12 }]]),
      more: true,
      chosen: null,
    });
    expect(picker.text).toContain("zebra");
  });

  it("is drawn in ASCII on a terminal without Unicode", async () => {
    const picker = await shown(80, 12, { BOUGH_ASCII: "1" });
    const own = picker.lines.filter((line) => !/[^\x20-\x7e]/.test(line)).length;
    expect(own).toBe(picker.lines.length - 4);
    expect(picker.text).toContain("`- Try a Pratt parser");
  });

  it("shows control characters of titles as pictures", async () => {
    const text = (await shown(80, 24)).text;
    expect(text).toContain("evil ␛[31m\\u{202e} title");
    expect(text).not.toMatch(/\u001b|\u202e/);
  });

  it("shows the cursor in fields only", async () => {
    const picker = await shown(80, 24);
    expect(picker.screen.view(picker.model).cursor).toBeUndefined();
    picker.press("/").type("日本");
    expect(picker.screen.view(picker.model).cursor).toEqual({ row: 1, column: "Search: ".length + 4 });
  });

  it("keeps columns aligned for any title", async () => {
    const picker = await shown(80, 24);
    const places = picker.lines.slice(3, 9).map((line) => displayWidth(line.slice(0, line.indexOf("claude"))));
    expect(new Set(places).size).toBe(1);
  });

  it("fits every size from 1 × 1 up, in every state", async () => {
    const store = await memoryStore();
    const keys = fc.array(
      fc.constantFrom("down", "G", "v", "e", "/", "p", "escape", "d", "n", "r", "?", "tab", "s", "A", "pagedown", "backspace"),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 100 }), keys, (columns, rows, pressed) => {
        const picker = pickerOn(store, { columns, rows }).listed(...SESSIONS);
        for (const key of pressed) {
          if (picker.model.result !== undefined) break;
          picker.press(key);
        }
        const { lines, cursor } = picker.screen.view(picker.model);
        expect(lines).toHaveLength(rows);
        for (const { line } of lines) expect(lineWidth(line)).toBeLessThanOrEqual(columns);
        if (cursor !== undefined) expect(cursor.column).toBeLessThan(Math.max(columns, 10));
      }),
    );
  });
});

describe("The columns", () => {
  it("disappear one by one on narrower screens, the title never", () => {
    const names = (width: number) => chooseColumns(width, "here").columns.map(({ name }) => name);
    expect(names(120)).toEqual(["count", "age", "model", "size"]);
    expect(names(70)).toEqual(["count", "age", "model"]);
    expect(names(60)).toEqual(["count", "age"]);
    expect(names(40)).toEqual(["count", "age"]);
    expect(names(34)).toEqual(["age"]);
    expect(names(25)).toEqual([]);
    for (let width = 23; width < 300; width += 1) expect(chooseColumns(width, "all").title).toBeGreaterThanOrEqual(20);
  });
});
