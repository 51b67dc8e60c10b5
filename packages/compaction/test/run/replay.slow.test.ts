import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importPath } from "@bough/formats";
import { type Entry, type EntryInput, type Session, type SessionContext, toOpenAiChat } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { createCompactor } from "../../src/run/compactor.js";
import { openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { loadCounter } from "../../src/tokens/load-counter.js";
import { startModelServer } from "../model/model-server.js";
import { findings, openedStore } from "../world/session.js";

const LARGE = realSession("pi/large-session.jsonl");
const SAMPLE = fileURLToPath(new URL("../../../cli/demo/sample.jsonl", import.meta.url));

/** The entries of a file's session, as somebody would have appended them one by one. */
async function recorded(path: string): Promise<readonly Entry[]> {
  const store = await openedStore();
  const { sessions } = await importPath(store, path);
  const session = await store.openSession(sessions[0]?.sessionId ?? "");
  // What tells of other entries has no place without them.
  return (await session.path()).filter(({ type }) => type === "message" || type === "model_change" || type === "thinking_level_change");
}

const isCall = (entry: Entry) => entry.type === "message" && entry.message.role === "assistant";

function again({ seq: _seq, parentId: _parent, ...entry }: Entry): EntryInput {
  return entry;
}

/** Whether each tool message answers a call of the reply before it, as OpenAI demands, and each call is answered. */
function isValid(context: SessionContext): boolean {
  const open = new Set<string>();
  for (const message of toOpenAiChat(context) as readonly {
    role: string;
    tool_calls?: readonly { id: string }[];
    tool_call_id?: string;
  }[]) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id ?? "")) return false;
    } else {
      if (open.size > 0) return false;
      for (const { id } of message.tool_calls ?? []) open.add(id);
    }
  }
  return open.size === 0;
}

/** Plays a recorded session again with automatic compaction: before each reply the request is prepared. */
async function replay(session: Session, entries: readonly Entry[], contextWindow: number, baseURL: string) {
  const summarizer = openAiCompatibleSummarizer({ baseURL, model: "loopback" });
  const compactor = createCompactor({ session, contextWindow, summarizer });
  const counter = await loadCounter("o200k_base");
  const seen = { requests: 0, largest: 0, invalid: 0, compactions: 0 };
  for (const entry of entries) {
    if (isCall(entry)) {
      const { context, done } = await compactor.prepareRequest();
      seen.requests += 1;
      // Counted anew from the text that would go over the wire, and not by what the engine says of itself.
      seen.largest = Math.max(
        seen.largest,
        counter.count(
          toOpenAiChat(context)
            .map((one) => JSON.stringify(one))
            .join("\n"),
        ),
      );
      if (!isValid(context)) seen.invalid += 1;
      if (done.compaction?.kind === "compacted") seen.compactions += 1;
    }
    await session.append(again(entry));
  }
  await compactor.close();
  return seen;
}

const SUMMARY = "## Goal\nPlay a recorded session.\n\n## Progress\n### Done\n- [x] Much of it\n\n## Next Steps\n1. Go on";

const FILES: readonly (readonly [name: string, path: string, contextWindow: number])[] = [
  ["the sample that comes with Bough", SAMPLE, 1_500],
  ["a real session of pi with a thousand messages", LARGE, 20_000],
];

describe.each(FILES)("%s, played again with automatic compaction", (_name, path, contextWindow) => {
  test.runIf(existsSync(path))("never sends more than the window, every context is valid, and the store is sound", async () => {
    const server = await startModelServer();
    server.otherwise(SUMMARY);
    const store = await openedStore();
    const session = await store.createSession({});
    const entries = await recorded(path);
    const seen = await replay(session, entries, contextWindow, server.baseURL);
    expect(seen.requests).toBe(entries.filter(isCall).length);
    expect(seen.compactions).toBeGreaterThan(0);
    expect(seen.invalid).toBe(0);
    expect(seen.largest).toBeLessThanOrEqual(contextWindow);
    // Nothing is lost: what was appended is there, besides the engine's own entries.
    const all = (await session.path()).filter(({ type }) => type !== "compaction" && type !== "context_edit");
    expect(all.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect(await findings(store)).toEqual([]);
  });
});
