// A reader for the log of an agent that Bough does not know: records in the order of the file, given to the one door of the store.
// Reading again adds only what is new, and the file is never changed.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";

/** Reads `{"id":"1","from":"ada","text":"…","time":"…"}`, one a line; each message follows the one before it. */
function readChat(path: string): SourceSession {
  function* records(): Generator<SourceRecord> {
    let parentId: string | null = null;
    for (const [index, text] of readFileSync(path, "utf8").trim().split("\n").entries()) {
      const { id, from, text: said, time } = JSON.parse(text);
      const payload = from === "agent" ? assistantMessage(said) : userMessage(said);
      yield { kind: "entry", line: index + 1, id, parentId, createdAtMs: Date.parse(time), payload };
      parentId = id;
    }
  }
  return { header: { sessionId: "chat-7", kind: "conversation", title: "Tabs", cwd: "/home/ada/app" }, records };
}

const path = join(mkdtempSync(join(tmpdir(), "bough-reader-")), "chat-7.log");
const lines = [
  { id: "1", from: "ada", text: "Why does the parser fail on tabs?", time: "2026-11-01T09:00:00Z" },
  { id: "2", from: "agent", text: "The lexer treats them as words.", time: "2026-11-01T09:00:04Z" },
];
writeFileSync(path, lines.map((line) => JSON.stringify(line)).join("\n"));

const store = await openStore({ path: ":memory:" });
const first = await store.importSession(readChat(path), { format: "ada-chat", path });
const again = await store.importSession(readChat(path), { format: "ada-chat", path });
console.log(`${first.entriesAdded} entries, then ${again.entriesAdded}`);
const session = await store.openSession(first.sessionId);
for (const entry of await session.path()) console.log(entry.type, entry.id);
await store.close();
