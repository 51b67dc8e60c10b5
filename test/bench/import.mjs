import { rmSync } from "node:fs";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import {
  parseFolder,
  parseRows,
  writeCursorChat,
  writeCursorEditor,
  writeOpencodeDatabase,
  writeOpencodeFiles,
} from "./agent-databases.mjs";
import { parseLines, writeCodexFile, writeCopilotFile, writeCursorTranscript, writeGeminiFile, writeVscodeChat } from "./agent-files.mjs";
import { writeAntigravityFile, writeDroidFile, writeGrokFile, writeHermesDatabase, writeKimiFile, writeQwenFile } from "./agent-trees.mjs";
import { barely } from "./bare-rows.mjs";
import { alternate, median } from "./measure.mjs";
import { writeClaudeFile, writePiFile } from "./session-files.mjs";

export const title = "import";

/** What is imported, and the parsing that it is compared with. */
const FORMATS = [
  ["a pi v3 file", writePiFile, parseLines],
  ["a Claude Code file", writeClaudeFile, parseLines],
  ["a Codex rollout", writeCodexFile, parseLines],
  ["a Copilot CLI log", writeCopilotFile, parseLines],
  ["a chat of VS Code", writeVscodeChat, parseLines],
  ["a Gemini CLI log", writeGeminiFile, parseLines],
  ["a Cursor transcript", writeCursorTranscript, parseLines],
  ["a Cursor chat (SQLite)", writeCursorChat, parseRows],
  ["a Cursor editor (SQLite)", writeCursorEditor, parseRows],
  ["an opencode database (SQLite)", writeOpencodeDatabase, parseRows],
  ["a Qwen Code chat", writeQwenFile, parseLines],
  ["a Kimi Code journal", writeKimiFile, parseLines],
  ["a Droid session", writeDroidFile, parseLines],
  ["an Antigravity transcript", writeAntigravityFile, parseLines],
  ["a Grok Build log", writeGrokFile, parseLines],
  ["a Hermes database (SQLite)", writeHermesDatabase, parseRows],
  ["a session of opencode 1.1 (JSON files)", writeOpencodeFiles, parseFolder],
];

/** Their users import most on the first day. */
const MOST_USED = /^a (?:pi|Claude|Codex) /;

/** A file into an empty store; the search index is filled afterwards, as the first search would. */
export async function run({ report, stores, quick, rounds }) {
  const bytes = quick ? 2e6 : 20e6;
  for (const [format, write, parse] of FORMATS) {
    const path = stores.path("session.jsonl");
    const source = write(path, bytes) ?? path;
    const { ours, bare, index, baseline } = await alternate(importers(stores, source, parse), { rounds: rounds(5), warmUp: 1 });
    const both = ours.map((ms, at) => ms + index[at]);
    const size = `${bytes / 1e6} MB`;
    report.ratio(
      `import of ${format}, search index left for later`,
      size,
      median(ours),
      median(baseline),
      MOST_USED.test(format) ? 4.5 : 6,
    );
    report.ratio(`import of ${format}: its rows inserted bare`, size, median(bare), median(baseline), null);
    report.ratio(`import of ${format}, search index included`, size, median(both), median(baseline), null);
    rmSync(path, { recursive: true });
  }
}

function importers(stores, source, parse) {
  let path;
  let store;
  return {
    ours: {
      prepare: async () => {
        path = stores.path("import.db");
        store = await openStore({ path });
      },
      run: async () => {
        const { sessions } = await importPath(store, source);
        const problems = sessions.reduce((sum, { problemCount }) => sum + problemCount, 0);
        if (sessions.length !== 1 || problems > 0) throw new Error(`${source}: ${sessions.length} sessions, ${problems} problems`);
      },
    },
    bare: barely(stores, () => path),
    index: { run: () => store.catchUpSearch() },
    baseline: {
      prepare: async () => {
        await store.close();
        rmSync(path);
      },
      run: () => parse(source),
    },
  };
}
