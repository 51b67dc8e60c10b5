import { copySessions, type Store } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { serverPlace } from "../../../.ci/test-engine.js";
import { runs } from "../../../.ci/test-runs.js";
import { imported, sourceOf } from "../../formats/test/world/sources.js";
import { findingsOf, openedStore } from "../../session-core/test/world/stores.js";
import { type Step, steps, TreeModel } from "../../session-core/test/world/tree-model.js";

/** The words of the entries that steps append, each with its parent, as `sourceOf` takes them. */
function wordsOf(taken: readonly Step[]): string {
  const model = new TreeModel();
  return taken
    .flatMap((step) => {
      const parent = model.leaf;
      const word = model.take(step);
      return word === undefined || word === "undo" || word === "redo" || word.startsWith("@") ? [] : [`${parent ?? ""}>${word}`];
    })
    .join(" ");
}

const marks = (ids: readonly number[]): readonly SourceRecord[] =>
  ids.flatMap((at): readonly SourceRecord[] => [
    { kind: "label", entryId: `u${at}`, label: `label ${at}`, createdAtMs: 1000 + at },
    { kind: "value", key: `key ${at % 3}`, value: { at } },
    { kind: "title", title: `Title ${at}`, source: at % 2 === 0 ? "user" : "auto" },
    { kind: "leaf", name: at % 2 === 0 ? "main" : "other", entryId: `a${at}` },
  ]);

/** What differs between the sessions of two stores. */
async function differences(from: Store, to: Store) {
  const { sessions } = await copySessions(from, to, { dryRun: true, verify: true });
  return sessions.filter(({ outcome }) => outcome !== "unchanged");
}

describe.each([0, 4])("an import into a server with %i partitions", (partitions) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(1_700_000_000_000);
    onTestFinished(() => void vi.useRealTimers());
  });

  test("gives what an import into a file gives, also of a source that grew or was written again", async () => {
    const source = fc.tuple(steps, fc.array(fc.nat(20), { maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(fc.array(source, { minLength: 1, maxLength: 3 }), async (sources) => {
        const [file, server] = [await openedStore({ path: ":memory:" }), await openedStore(serverPlace(partitions))];
        for (const [taken, marked] of sources) {
          const given = () => sourceOf(wordsOf(taken), marks(marked));
          expect(await imported(server, given())).toEqual(await imported(file, given()));
        }
        expect(await differences(file, server)).toEqual([]);
        expect(await findingsOf(server)).toEqual([]);
        await Promise.all([file.close(), server.close()]);
      }),
      { numRuns: runs(partitions === 0 ? 40 : 10) },
    );
  });
});
