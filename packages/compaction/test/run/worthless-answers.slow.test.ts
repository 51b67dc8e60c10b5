import { fileURLToPath } from "node:url";
import { importPath } from "@bough/formats";
import type { Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { hasRealSession, realSession } from "../../../../.ci/real-sessions.mjs";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import type { Summarizer, SummaryRequest } from "../../src/summarizers/summarizer.js";
import { listening, openedStore } from "../world/session.js";

/** The session that ships with the command, and real ones of other agents where their folder is there. */
const PLACES = [
  fileURLToPath(new URL("../../../cli/demo/sample.jsonl", import.meta.url)),
  ...["pi", "claude"].filter((name) => hasRealSession(name)).map(realSession),
];

/** With fewer facts nothing can be told of an answer. */
const LEAST_FACTS = 3;

async function imported(preset: PresetName, work: (session: Session) => Promise<void>): Promise<void> {
  const store = await openedStore();
  // The two ways to ask, simple and full, over all of them; the other presets differ in words only.
  for (const place of preset === "balanced" || preset === "vscode" ? PLACES : PLACES.slice(0, 1)) {
    for (const { sessionId } of (await importPath(store, place)).sessions) await work(await store.openSession(sessionId));
  }
}

/** A summary as short as a model's may be: what was asked last, and the newest files. */
function briefly({ source }: SummaryRequest): string {
  const messages = source?.messages ?? [];
  const asked = messages.findLast(({ role }) => role === "user");
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const paths = calls.flatMap((block) => (block.type === "toolCall" ? [block.arguments["path"] ?? block.arguments["file_path"]] : []));
  const named = [...new Set(paths.filter((path) => typeof path === "string"))].slice(-12).join(", ");
  return `The user asked: ${asked?.role === "user" ? JSON.stringify(asked.content).slice(0, 300) : "nothing"}.\nThe work on ${named} goes on.`;
}

/** What models answer that do not summarize. */
const WORTHLESS: Readonly<Record<string, (request: SummaryRequest) => string>> = {
  "an OK": () => "<summary>OK</summary>",
  "a refusal in plain words": () => "<summary>I'm sorry, but I can't help with that.</summary>",
  "a promise": () => "<summary>Understood. I will write the notes in the form that you asked for once you send me the record.</summary>",
  "an empty form": () => "<summary>\n## Goal\n(none)\n\n## Progress\n### Done\n- (none)\n\n## Next Steps\n1. Continue.\n</summary>",
  "the instructions again": ({ prompt }) => prompt.slice(prompt.lastIndexOf("</conversation>") + "</conversation>".length),
};

function compactorFor(session: Session, preset: PresetName, summarizer: Summarizer) {
  const heard = listening();
  const settings = { preset, keep: { manual: "nothing" } } as const;
  return { heard, compactor: createCompactor({ session, contextWindow: 200_000, settings, summarizer, onEvent: heard.onEvent }) };
}

describe.each(Object.keys(PRESETS) as PresetName[])("with the preset %s", (preset) => {
  test.each(Object.keys(WORTHLESS))(
    "%s is not accepted as a summary: the extract is used, and result and event contain the reason",
    async (name) => {
      let judged = 0;
      await imported(preset, async (session) => {
        const { heard, compactor } = compactorFor(session, preset, async (request) => WORTHLESS[name]?.(request) ?? "");
        const result = await compactor.compact();
        if (result.kind !== "compacted" || (result.fidelity?.total ?? 0) < LEAST_FACTS) return;
        judged += 1;
        const reason = expect.stringMatching(/^(?:low-fidelity|echo)$/);
        expect(result).toMatchObject({ method: "extract", failures: expect.arrayContaining([expect.objectContaining({ reason })]) });
        expect(heard.events).toContainEqual(
          expect.objectContaining({
            type: "compactionComplete",
            method: "extract",
            fidelity: result.fidelity?.score,
            failures: result.failures,
          }),
        );
      });
      expect(judged).toBeGreaterThan(0);
    },
  );

  test("a short summary that names the work is accepted, for every session", async () => {
    let passed = 0;
    await imported(preset, async (session) => {
      const { compactor } = compactorFor(session, preset, async (request) => `<summary>\n## Goal\n${briefly(request)}\n</summary>`);
      const result = await compactor.compact();
      if (result.kind !== "compacted" || (result.fidelity?.total ?? 0) < LEAST_FACTS) return;
      expect([session.id, result.method, result.fidelity?.score]).toEqual([session.id, "normal", result.fidelity?.score]);
      passed += 1;
    });
    expect(passed).toBeGreaterThan(0);
  });
});
