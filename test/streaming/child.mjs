// Writes a session that is larger than the heap of this process, exports it in every format, and imports one again.
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { exportBough, exportClaude, exportMarkdown, exportPi, importPath } from "@bough/formats";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";

const [folder, count] = [process.argv[2], Number(process.argv[3])];
const words = "lorem ipsum dolor sit amet ".repeat(160);
const store = await openStore({ path: join(folder, "large.db"), durability: "normal" });
const session = await store.createSession({ id: "large" });
for (let done = 0; done < count; done += 1000) {
  const entries = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? userMessage(`${done + at} ${words}`) : assistantMessage(words)));
  await session.write(entries.map((entry) => ({ kind: "entry", entry })));
}
// Secrets are looked for by the same code for each format, which takes two thirds of an export: in the first and in the last one.
for (const [name, pieces] of [
  ["large.md", exportMarkdown(session)],
  ["large.pi.jsonl", exportPi(session, { secrets: "keep" })],
  ["large.claude.jsonl", exportClaude(session, { secrets: "keep" })],
  ["large.jsonl", exportBough(session)],
]) {
  const file = openSync(join(folder, name), "w");
  for await (const piece of pieces) writeSync(file, piece);
  closeSync(file);
}
await store.close();
const other = await openStore({ path: join(folder, "other.db"), durability: "normal" });
const { sessions } = await importPath(other, join(folder, "large.jsonl"));
await other.close();
process.stdout.write(String(sessions[0]?.entriesAdded));
