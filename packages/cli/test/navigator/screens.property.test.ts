import { assistantMessage, type Store, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { NAVIGATOR_KEYS } from "../../src/navigator/keys.js";
import { startNavigator } from "../../src/navigator/navigator.js";
import { rebuildLayouts } from "../../src/navigator/selection.js";
import { update } from "../../src/navigator/update.js";
import { view } from "../../src/navigator/view.js";
import type { Io } from "../../src/terminal/io.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { anyOutline, chain, outline } from "../tree/outlines.js";
import { NOON } from "../world.js";
import { opened } from "./opened.js";

await loadExactWidths();

const SIZES = [
  { columns: 40, rows: 9 },
  { columns: 80, rows: 23 },
  { columns: 160, rows: 30 },
] as const;

/** Branches, labels, a failed call, a summary, and texts that terminals obey or draw wide. */
async function everything(store: Store) {
  const session = await store.createSession({ id: "session-1", title: "Parser \u001b]0;owned\u0007" });
  const at = (minutes: number) => ({ createdAtMs: NOON - minutes * 60_000 });
  await session.append({ ...userMessage("日本語の説明をください 👩‍👩‍👧 e\u0301"), id: "u1", ...at(90) });
  await session.append({
    ...assistantMessage([
      { type: "text", text: "I read it." },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "src/a.ts" } },
    ]),
    id: "a1",
    ...at(80),
  });
  await session.append({ ...userMessage("\u202eesrever \u001b[2Jcleared"), id: "u2", ...at(70) });
  await session.append({ ...assistantMessage("The first way. ".repeat(20)), id: "a2", ...at(60) });
  await session.moveLeaf("a1");
  await session.append({ type: "branch_summary", summary: "The first way failed.", fromId: "a2", id: "s1", ...at(50) });
  await session.append({ ...userMessage("שלום, try the second way"), id: "u3", ...at(40) });
  await session.append({ ...assistantMessage("Done."), id: "a3", ...at(5) });
  await session.labels.set("a2", "too slow");
  return session;
}

describe("the navigator's screen", () => {
  it.each(SIZES)("at $columns × $rows", async (size) => {
    const { driven } = await opened(everything, { size });
    expect(driven.text).toMatchSnapshot("list");
    driven.press("v");
    await driven.until(({ preview }) => preview.lines !== null);
    expect(driven.text).toMatchSnapshot("preview");
    driven.press("v", "/").type("way");
    await driven.until(({ search }) => search?.hits !== null);
    expect(driven.text).toMatchSnapshot("search");
    driven.press("escape", "g", "enter");
    expect(driven.text).toMatchSnapshot("leaving");
    driven.press("escape", "?");
    expect(driven.text).toMatchSnapshot("help");
  });

  it("is drawn in ASCII if nothing else is supported", async () => {
    const { driven } = await opened(everything, { env: { BOUGH_ASCII: "1" } });
    const drawn = driven.text.replace(/日本語の説明をください 👩‍👩‍👧 e\u0301|שלום|␛|␇|…/g, "");
    expect(drawn).toMatch(/^[\x00-\x7e]*$/);
  });

  it("makes stored control characters visible", async () => {
    const { driven } = await opened(everything);
    expect(driven.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    expect(driven.text).toContain("esrever [2Jcleared");
  });

  it("leaves forty columns for the text, however deep the tree", async () => {
    const sketches = Array.from({ length: 60 }, (_, at) => [
      [`n${at}`, at === 0 ? null : `n${at - 1}`, { preview: "x".repeat(100) }] as const,
      [`side${at}`, at === 0 ? null : `n${at - 1}`, {}] as const,
    ]).flat();
    const model = drawnFrom(outline(...sketches), "n59", { columns: 80, rows: 23 });
    const texts = view(model)
      .lines.map(({ line }) => textOfLine(line))
      .filter((line) => line.includes("xxx") && !line.includes("←"));
    expect(texts.length).toBeGreaterThan(5);
    for (const text of texts) expect(text.match(/x+/)?.[0].length).toBeGreaterThanOrEqual(34);
  });
});

/** A navigator that has read these rows. */
function drawnFrom(rows: ReturnType<typeof outline>, leafId: string | null, size: { readonly columns: number; readonly rows: number }) {
  const io = { env: {}, now: () => NOON } as Partial<Io> as Io;
  const record = { id: "session-1", title: "Any", firstText: null, parent: null } as Parameters<typeof startNavigator>[1];
  const { model } = startNavigator({ io }, record, {}, size);
  const leaves = [{ name: "main", entryId: leafId }];
  const tree = { index: TreeIndex.of(rows), labels: new Map(), leaves, leafName: "main", leafId, isHeld: false };
  return rebuildLayouts(update(model, { kind: "loaded", tree }).model).model;
}

describe("any keys on any tree", () => {
  const keys = fc.constantFrom(
    ...NAVIGATOR_KEYS.flatMap((binding) => binding.keys).filter((key) => key !== "q" && key !== "ctrl+c"),
    "x",
    "y",
    "1",
    "2",
    "backspace",
  );
  const events = fc.oneof(
    keys.map((key) => ({ kind: "key", key, ...([...key].length === 1 ? { text: key } : {}) }) as const),
    fc
      .record({ columns: fc.integer({ min: 40, max: 200 }), rows: fc.integer({ min: 9, max: 60 }) })
      .map((size) => ({ kind: "resize", size }) as const),
    fc.constant({ kind: "paste", text: "pasted\n\u001b[2J" } as const),
  );

  it("leave a selected row in sight, and every frame within the terminal", () => {
    fc.assert(
      fc.property(anyOutline, fc.array(events, { maxLength: 30 }), (rows, happened) => {
        let model = drawnFrom(rows, rows.at(-1)?.id ?? null, { columns: 80, rows: 24 });
        for (const event of happened) {
          model = update(model, event).model;
          const { lines, cursor } = view(model);
          expect(lines.length).toBeLessThanOrEqual(model.size.rows);
          for (const { line } of lines) expect(lineWidth(line)).toBeLessThanOrEqual(model.size.columns);
          if (cursor !== undefined) expect(lines[cursor.row]).toBeDefined();
          const { layout, folds, selected } = model;
          if (layout !== undefined && layout.visibleCount(folds) > 0)
            expect(layout.positionOf(selected, folds)).toBeGreaterThanOrEqual(model.top);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

describe("a long chain", () => {
  it("is drawn from any position", () => {
    const model = drawnFrom(outline(...chain(5000)), "p04999", { columns: 80, rows: 23 });
    expect(textOfLine(view(model).lines[0]?.line ?? [])).toContain("5,000/5,000");
    expect(textOfLine(view(update(model, { kind: "key", key: "g" }).model).lines[0]?.line ?? [])).toContain("1/5,000");
  });
});
