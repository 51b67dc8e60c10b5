import { existsSync, readFileSync } from "node:fs";
import { isObject } from "@bough/session-core/wire";
import { test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { nothingIsLostInDocuments } from "../world/mutated-documents.js";
import { type CorpusFile, nothingIsLost } from "../world/mutated-files.js";
import { call, gemini, header, response, user } from "./gemini-log.js";

const REAL = realSession("gemini/session-v040.jsonl");

const RECORDS = [
  header({ summary: "Seed" }),
  user("u", [{ text: "one" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }]),
  gemini("g", "", { thoughts: [{ subject: "a", description: "b" }] }),
  gemini("g", "", { toolCalls: [call("a"), call("b", "B", { status: "error" })], tokens: { input: 1, total: 2 } }),
  { $set: { lastUpdated: "2026-04-01T10:00:00.000Z" } },
  user("r", [response("a", "A")]),
  gemini("h", [{ text: "2" }]),
  { id: "i", timestamp: "2026-04-01T10:00:00.000Z", type: "info", content: "note" },
  { $rewindTo: "h" },
  user("v", "two"),
  { $set: { messages: [user("x", "<state_snapshot>sum</state_snapshot>"), gemini("y", "Got it."), user("v2", "two")] } },
  { $patch: { updates: [{ id: "v2", content: [{ text: "masked" }] }], removeIds: ["x"], orderIds: ["v2"] } },
  user("w", "three"),
];

const CORPUS: readonly CorpusFile[] = [
  { name: "session-seed.jsonl", content: Buffer.from(RECORDS.map((record) => `${JSON.stringify(record)}\n`).join("")) },
  ...(existsSync(REAL) ? [{ name: "session-v040.jsonl", content: readFileSync(REAL) }] : []),
];

test("of any mutated log every record is an entry, merged or reported; errors are typed; a second import adds nothing", async () => {
  await nothingIsLost(CORPUS);
});

test("of any mutated document every message is an entry, or the damage is reported", async () => {
  const messages = RECORDS.filter((record) => "id" in record).map((record) => JSON.stringify(record));
  const document = `${JSON.stringify(header()).slice(0, -1)},"messages":[\n${messages.join(",\n")}\n],"summary":"Seed"}`;
  await nothingIsLostInDocuments([document], (value) => (isObject(value) && Array.isArray(value.messages) ? value.messages : []));
});
