// Questions as people ask them, in one call of recallSearch over all sessions, and the place of the first entry that answers. The real sessions
// lie outside of the repository; a question whose file is missing is not asked. Every third question is held out.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { recallSearch } from "@bough/compaction";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { REAL_SESSIONS } from "../../.ci/real-sessions.mjs";
import { OWN_QUESTIONS, OWN_SESSIONS } from "./questions/own-sessions.mjs";
import { REAL_QUESTIONS } from "./questions/real-sessions.mjs";
import { QUESTION_HEADINGS, questionRows, table } from "./table.mjs";

const FOLDERS = [
  "pi",
  "claude",
  "codex",
  "copilot",
  "cursor",
  "gemini",
  "droid",
  "openclaw",
  "kimi",
  "qwen",
  "antigravity",
  "opencode/storage_v2",
];

/** Imports the sessions and lists the questions that can be asked: words, kind, sessions and entries that answer. `say` hears which cannot. */
async function openQuestions(store, say) {
  const sessionsOf = new Map();
  for (const folder of FOLDERS) {
    const path = join(REAL_SESSIONS, folder);
    const { sessions } = existsSync(path) ? await importPath(store, path) : { sessions: [] };
    for (const one of sessions) add(sessionsOf, one.path.slice(REAL_SESSIONS.length + 1), one.sessionId);
  }
  const ownKeys = new Map();
  for (const { title, messages } of OWN_SESSIONS) {
    const session = await store.createSession({ title });
    add(sessionsOf, title, session.id);
    for (const [key, role, content] of messages) {
      const message = role === "user" ? { role, content } : { role, content: [{ type: "text", text: content }] };
      ownKeys.set(key, (await session.append({ type: "message", message })).id);
    }
  }
  const questions = [...REAL_QUESTIONS, ...OWN_QUESTIONS].map(([place, kind, query, keys], at) => ({
    kind,
    query,
    sessions: sessionsOf.get(place),
    keys: keys.map((key) => ownKeys.get(key) ?? key),
    isHeldOut: at % 3 === 2,
  }));
  const known = questions.filter(({ sessions }) => sessions !== undefined);
  if (known.length < questions.length)
    say(`QUESTIONS NOT ASKED: ${questions.length - known.length} of ${questions.length}: no session files`);
  return known;
}

function add(map, key, value) {
  map.set(key, [...(map.get(key) ?? []), value]);
}

/** Asks the questions. `place`: of the first entry that answers among the first ten, from 1; 0: it is not among them. */
export async function askQuestions(say) {
  const store = await openStore({ path: ":memory:" });
  try {
    const questions = await openQuestions(store, say);
    const answers = [];
    for (const { keys, sessions, ...question } of questions) {
      const start = performance.now();
      const { data } = await recallSearch(store, { query: question.query, limit: 10 }, { maxChars: 1_000_000 });
      const ms = performance.now() - start;
      const place =
        1 + data.hits.findIndex(({ entryId, sessionId }) => sessions.includes(sessionId) && keys.some((key) => entryId.startsWith(key)));
      answers.push({ ...question, place, ms });
    }
    return answers;
  } finally {
    await store.close();
  }
}

// As a program: prints what was measured of the questions that are not held out. --held-out those instead, --all both; --missed names questions
// that are not answered first.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const has = (option) => process.argv.includes(option);
  const answers = await askQuestions((text) => process.stderr.write(`[eval] ${text}\n`));
  const asked = answers.filter(({ isHeldOut }) => has("--all") || isHeldOut === has("--held-out"));
  process.stdout.write(has("--json") ? JSON.stringify(asked) : `${table([QUESTION_HEADINGS, ...questionRows(asked)])}\n`);
  if (has("--missed"))
    for (const { kind, query, place } of asked) if (place !== 1) process.stdout.write(`${place === 0 ? "-" : place}\t${kind}\t${query}\n`);
}
