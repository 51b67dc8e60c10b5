// The exam: questions with short answers about sessions, asked of the built-in extract alone. A question is answered when its
// pattern matches a line of the summary, and what must not be there is not. It measures what a reader of nothing but the
// summary can know; a few questions can only be answered from tool output, which no extract keeps.

import { existsSync } from "node:fs";
import { extractiveSummarizer, loadCounter } from "@bough/compaction";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { realSession } from "../../.ci/real-sessions.mjs";
import { EXPORT_SESSION } from "./exam/export-session.mjs";
import { INIT_SESSION } from "./exam/init-session.mjs";
import { THEME_SESSION } from "./exam/theme-session.mjs";

/** The exams that can be held, each with its messages. `say` hears loudly which cannot. */
export async function openExams(say) {
  // A store of its own: a session that was compacted has other messages.
  const store = await openStore({ path: ":memory:" });
  try {
    return await readExams(store, say);
  } finally {
    await store.close();
  }
}

async function readExams(store, say) {
  const exams = [];
  for (const exam of [THEME_SESSION, INIT_SESSION, EXPORT_SESSION]) {
    const path = exam.file === undefined ? null : realSession(exam.file);
    if (path === null) exams.push(exam);
    else if (existsSync(path)) exams.push({ ...exam, ...(await imported(store, path)) });
    else say(`EXAM NOT HELD: ${exam.title}, ${exam.questions.length} questions: no session file ${path}`);
  }
  return exams;
}

async function imported(store, path) {
  const { sessions } = await importPath(store, path);
  const session = await store.openSession(sessions.find((one) => one.path === path)?.sessionId ?? sessions[0].sessionId);
  return { messages: (await session.context()).messages, cwd: (await session.record()).cwd };
}

/** Has the extract of a session made, and asks the questions of it. `maxChars`: instead of the extract's own bound. */
export async function holdExam({ title, messages, cwd, questions }, maxChars) {
  const source = { messages, cwd, kind: "history", previousSummary: null, instructions: null };
  const { text } = await extractiveSummarizer({ maxChars })({ system: "", prompt: "", source });
  const counter = await loadCounter("o200k_base");
  const tokens = counter.count(text);
  const missed = questions.filter((question) => !isAnswered(text.split("\n"), question)).map(([question]) => question);
  return { title, questions: questions.length, answered: questions.length - missed.length, missed, chars: text.length, tokens, text };
}

/** @param question [words, pattern of the answer, pattern that must match no line]. */
function isAnswered(lines, [, answer, never]) {
  return lines.some((line) => answer.test(line)) && !(never !== undefined && lines.some((line) => never.test(line)));
}
