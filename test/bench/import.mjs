import { rmSync, statSync } from "node:fs";
import { importPath, openStore } from "@bough/session-core";
import {
  parseLines,
  parseRows,
  writeCodexFile,
  writeCursorChat,
  writeCursorEditor,
  writeCursorTranscript,
  writeGeminiFile,
} from "./agent-files.mjs";
import { alternate, median } from "./measure.mjs";
import { writeClaudeFile, writePiFile } from "./session-files.mjs";

export const title = "import";

/** What is imported, and the parsing that it is compared with. */
const FORMATS = [
  ["pi v3 file", writePiFile, parseLines],
  ["Claude Code file", writeClaudeFile, parseLines],
  ["Codex rollout", writeCodexFile, parseLines],
  ["Gemini CLI log", writeGeminiFile, parseLines],
  ["Cursor transcript", writeCursorTranscript, parseLines],
  ["Cursor chat (SQLite)", writeCursorChat, parseRows],
  ["Cursor editor (SQLite)", writeCursorEditor, parseRows],
];

/** A file into an empty store; the search index is filled afterwards, as the first search would. */
export async function run({ report, stores, quick, rounds }) {
  for (const [format, writeFile, parse] of FORMATS) {
    const source = stores.path("session.jsonl");
    writeFile(source, quick ? 2e6 : 20e6);
    const size = `${(statSync(source).size / 1e6).toFixed(0)} MB`;
    const { ours, index, baseline } = await alternate(importers(stores, source, parse), { rounds: rounds(5), warmUp: 1 });
    const both = ours.map((ms, at) => ms + index[at]);
    report.ratio(`import of a ${format}, search index left for later`, size, median(ours), median(baseline), 5);
    report.ratio(`import of a ${format}, search index included`, size, median(both), median(baseline), null);
    rmSync(source);
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
