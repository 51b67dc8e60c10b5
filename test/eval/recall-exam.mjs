// The exam of recall: the same questions as that of the extract, asked of entries that a compaction has hidden completely. The solver is
// fixed, so that versions can be compared: it searches once for the question as it stands, and the question is answered when its pattern
// matches a line of the answer. A model chooses better words than the question has; this is the
// least that one call gives.

import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { recallRead, searchHidden } from "@bough/compaction";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { realSession } from "../../.ci/real-sessions.mjs";
import { EXPORT_SESSION } from "./exam/export-session.mjs";
import { INIT_SESSION } from "./exam/init-session.mjs";
import { THEME_SESSION } from "./exam/theme-session.mjs";
import { RECALL_HEADINGS, recallRow, table } from "./table.mjs";

const DOCUMENT = fileURLToPath(new URL("../../docs/recall-exam.md", import.meta.url));

/** The exams of recall that can be held: titles, questions and a session whose entries are all hidden. `say` hears which cannot. */
export async function openRecallExams(store, say) {
  const exams = [];
  for (const exam of [THEME_SESSION, INIT_SESSION, EXPORT_SESSION]) {
    const session = exam.file === undefined ? await written(store, exam) : await imported(store, realSession(exam.file));
    if (session === null) say(`EXAM NOT HELD: recall of ${exam.title}, ${exam.questions.length} questions: no session file`);
    if (session === null) continue;
    await session.append({ type: "compaction", summary: "All of it.", firstKeptEntryId: null });
    // What an answer must not contain is a matter of summaries only.
    exams.push({ title: exam.title, session, questions: exam.questions.filter(([, , never]) => never === undefined) });
  }
  return exams;
}

async function written(store, { cwd, messages }) {
  const session = await store.createSession({ cwd });
  for (const message of messages) await session.append({ type: "message", message });
  return session;
}

async function imported(store, path) {
  if (!existsSync(path)) return null;
  const { sessions } = await importPath(store, path);
  return store.openSession(sessions.find((one) => one.path === path)?.sessionId ?? sessions[0].sessionId);
}

/** Asks each question in one call, and in a second one that reads the first hits. */
export async function holdRecallExam({ title, session, questions }) {
  const missed = [];
  let [answered, afterReading, chars, most] = [0, 0, 0, 0];
  for (const [question, answer] of questions) {
    const { text, data } = await searchHidden(session, { query: question });
    chars += text.length;
    most = Math.max(most, text.length);
    if (isAnswered(text, answer)) answered += 1;
    else if (await isAnsweredByReading(session, data.hits, answer)) afterReading += 1;
    else missed.push(question);
  }
  const meanChars = Math.round(chars / questions.length);
  return { title, questions: questions.length, answered, afterReading, missed, meanChars, mostChars: most };
}

async function isAnsweredByReading(session, hits, answer) {
  if (hits.length === 0) return false;
  const { text } = await recallRead(session, { entries: hits.slice(0, 3).map(({ entryId }) => entryId), around: 1 });
  return isAnswered(text, answer);
}

function isAnswered(text, answer) {
  return text.split("\n").some((line) => answer.test(line.replace(/^\d+: /, "")));
}

// As a program: prints what was measured. --json the report as JSON, --missed names the questions that were not answered.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const store = await openStore({ path: ":memory:" });
  const exams = [];
  try {
    for (const exam of await openRecallExams(store, (text) => process.stderr.write(`[eval] ${text}\n`)))
      exams.push(await holdRecallExam(exam));
  } finally {
    await store.close();
  }
  if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ exams }, null, 2)}\n`);
  else process.stdout.write(`${table([RECALL_HEADINGS, ...exams.map(recallRow)])}\n`);
  if (process.argv.includes("--missed")) {
    for (const { title, missed } of exams) for (const question of missed) process.stdout.write(`not answered, ${title}: ${question}\n`);
  }
  if (process.argv.includes("--document")) writeFileSync(DOCUMENT, toDocument(exams));
}

function toDocument(exams) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const rows = [
    row(RECALL_HEADINGS),
    `| --- |${" --: |".repeat(RECALL_HEADINGS.length - 1)}`,
    ...exams.map((exam) => row(recallRow(exam))),
  ];
  return `# The exam of recall\n\nWritten by \`node test/eval/recall-exam.mjs --document\`; [recall](recall.md#the-exam) says what is measured.\n\n${rows.join("\n")}\n`;
}
