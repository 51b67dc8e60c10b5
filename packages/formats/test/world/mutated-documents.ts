import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BoughError } from "@bough/session-core";
import { parseJson, tryStringify } from "@bough/session-core/wire";
import fc from "fast-check";
import { expect } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { FORMATS } from "../../src/registry.js";
import { readHead } from "../../src/source/json-lines.js";
import { importPath } from "../../src/transfer/import-path.js";
import { drawing, MUTATIONS, mutated } from "./mutations.js";

const mutations = fc.array(fc.record({ name: fc.constantFrom(...MUTATIONS), seed: fc.nat() }), { minLength: 1, maxLength: 3 });

/** How many mutated documents are tried; the attack `properties` tries more. */
const RUNS = 60;

/**
 * The property of every format whose files are JSON documents: of any mutation of a document with an element a line, each element is an
 * entry, merged or reported if the whole is JSON, and otherwise something is reported; errors are typed; the store has no violation;
 * a second import adds nothing.
 *
 * @param elementsIn the elements of a document that is JSON.
 */
export async function nothingIsLostInDocuments(
  corpus: readonly string[],
  elementsIn: (document: unknown) => readonly unknown[],
): Promise<void> {
  const index = fc.nat(corpus.length - 1);
  await fc.assert(
    fc.asyncProperty(index, index, mutations, async (at, otherAt, changes) => {
      const [seed, other]: readonly Buffer[] = [at, otherAt].map((number) => Buffer.from(corpus[number] ?? ""));
      if (seed === undefined || other === undefined) throw new RangeError("no such document");
      await judge(
        changes.reduce<Buffer>((file, { name, seed: from }) => mutated(file, name, drawing(from), other), seed),
        elementsIn,
      );
    }),
    { numRuns: runs(RUNS) },
  );
}

async function judge(content: Buffer, elementsIn: (document: unknown) => readonly unknown[]): Promise<void> {
  const path = join(tempFolder(), "document.json");
  writeFileSync(path, content);
  const store = await openedStore();
  const report = await importPath(store, path).catch((error: unknown) => error);
  if (report instanceof BoughError) {
    expect([report.code === "SOURCE_UNREADABLE", (await store.statistics()).sessions]).toEqual([false, 0]);
    return;
  }
  if (report instanceof Error) throw report;
  const head = readHead(path);
  const format = FORMATS.find((candidate) => candidate.detects(head));
  const records = [...(format?.sessions(path) ?? [])].flatMap((session) => [...session.records()]);
  const text = content.toString("utf8").replace(/^\uFEFF+/, "");
  const document = parseJson(text);
  // Whole documents on lines of their own are JSON Lines.
  const isLines = text.split("\n").every((line) => line.trim() === "" || parseJson(line) !== undefined);
  if (document === undefined) expect(isLines || records.some(({ kind }) => kind === "problem")).toBe(true);
  else expect(accountedLines(records).size).toBeGreaterThanOrEqual(new Set(linesOf(content, elementsIn(document))).size);
  expect(await findingsOf(store)).toEqual([]);
  const again = await importPath(store, path);
  expect(again.sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0)).toBe(0);
}

function accountedLines(records: Iterable<{ readonly kind: string; readonly line?: number }>): ReadonlySet<number> {
  return new Set([...records].flatMap(({ line }) => line ?? []));
}

/** The lines on which elements start, if the document has one element a line. */
function linesOf(content: Buffer, elements: readonly unknown[]): readonly number[] {
  // An element that is nested too deep to be written is not looked for.
  const texts = new Set(elements.flatMap((element) => tryStringify(element) ?? []));
  const lines = content.toString("utf8").split("\n");
  return lines.flatMap((line, at) => (texts.has(line.trim().replace(/,$/, "")) ? [at + 1] : []));
}
