// npm run eval: what compaction keeps of real sessions. Each is compacted once, the newest quarter of its messages stays,
// and the facts found in what was summarised are looked up in the summary; the rest is in the store, by recall only.
//   --json               the report as JSON           --summaries   also print each summary
//   --only TEXT          sessions whose name has it   --window N    the model's window, in tokens (default 200000)
//   --exam               only the exam of the extract        --missed      name the questions that were not answered
//   --chars N            bound of the exam's extracts, in UTF-16 code units, to compare versions at the same size
//   --cache              only what compaction costs in prompt caches: presets and policies on seeded sessions; --document writes docs/cache.md
//   --base-url URL --model NAME [--api-key-env NAME]  a model behind an OpenAI-compatible server writes the summaries
// Without a model the built-in extract writes them. Then the exam: questions that a reader of the extract alone should answer.
import { openAiCompatibleSummarizer, PRESETS } from "@bough/compaction";
import { openStore } from "@bough/session-core";
import { readOptions, refuse } from "../../.ci/program-options.mjs";
import { cacheTables } from "./cache.mjs";
import { writeCachePage } from "./cache-document.mjs";
import { evaluate } from "./evaluate.mjs";
import { holdExam, openExams } from "./exam.mjs";
import { holdMemory, memoryRows } from "./memory.mjs";
import { askQuestions } from "./questions.mjs";
import { holdRecallExam, openRecallExams } from "./recall-exam.mjs";
import { openSessions } from "./sessions.mjs";
import {
  EXAM_HEADINGS,
  examRow,
  HEADINGS,
  QUESTION_HEADINGS,
  questionRows,
  RECALL_HEADINGS,
  recallRow,
  rowOf,
  table,
  totals,
} from "./table.mjs";

const options = readOptions(import.meta.url, {
  json: { type: "boolean", default: false },
  summaries: { type: "boolean", default: false },
  exam: { type: "boolean", default: false },
  cache: { type: "boolean", default: false },
  document: { type: "boolean", default: false },
  chars: { type: "string" },
  missed: { type: "boolean", default: false },
  only: { type: "string", default: "" },
  window: { type: "string", default: "200000" },
  "base-url": { type: "string" },
  model: { type: "string" },
  "api-key-env": { type: "string" },
});

const contextWindow = Number(options.window);
if (!Number.isInteger(contextWindow) || contextWindow < 1) refuse("--window takes a number of tokens.");

/** Who writes the summaries, and its name. */
function chooseSummarizer() {
  const { "base-url": baseURL, model, "api-key-env": keyName } = options;
  if (baseURL === undefined && model === undefined) return { name: "the built-in extract (no model)", summarizer: undefined };
  if (baseURL === undefined || model === undefined) refuse("--base-url and --model go together.");
  const apiKey = keyName === undefined ? undefined : process.env[keyName];
  if (keyName !== undefined && apiKey === undefined) refuse("--api-key-env takes the name of a variable that is set.");
  return { name: model, summarizer: openAiCompatibleSummarizer({ baseURL, model, apiKey }) };
}

const print = (text) => process.stdout.write(`${text}\n`);
const say = (text) => process.stderr.write(`[eval] ${text}\n`);
if (options.cache) {
  const tables = await cacheTables(Object.keys(PRESETS), say);
  if (options.document) writeCachePage(tables);
  print(tables.join("\n\n"));
  process.exit(0);
}

/** The exam of the extract, of the sessions that are chosen. */
async function holdExams() {
  const exams = [];
  for (const exam of (await openExams(say)).filter((one) => one.title.includes(options.only))) {
    const { text, ...held } = await holdExam(exam, options.chars === undefined ? undefined : Number(options.chars));
    exams.push(held);
    if (options.summaries) print(`\n=== exam of ${exam.title}\n\n${text}\n`);
  }
  return exams;
}

function printExams(exams) {
  print("Exam of the built-in extract: questions that its text alone answers.\n");
  print(table([EXAM_HEADINGS, ...exams.map(examRow)]));
}

function printMissed(exams) {
  for (const { title, missed } of exams) for (const question of missed) print(`not answered, ${title}: ${question}`);
}

if (options.exam) {
  const exams = await holdExams();
  if (options.json) print(JSON.stringify({ exams }, null, 2));
  else printExams(exams);
  if (options.missed && !options.json) printMissed(exams);
  process.exit(0);
}
const { name, summarizer } = chooseSummarizer();
const { store, sessions } = await openSessions(say);
const results = [];
let exams;
try {
  for (const { title, session } of sessions.filter((one) => one.title.includes(options.only))) {
    const result = { session: title, ...(await evaluate(session, { summarizer, contextWindow })) };
    results.push(result);
    if (options.summaries && result.summary !== null) print(`\n=== ${title}\n\n${result.summary}\n`);
  }
  exams = await holdExams();
} finally {
  await store.close();
}
// A store of its own: its sessions are compacted completely.
const hidden = await openStore({ path: ":memory:" });
const recall = [];
try {
  for (const exam of (await openRecallExams(hidden, say)).filter((one) => one.title.includes(options.only)))
    recall.push(await holdRecallExam(exam));
} finally {
  await hidden.close();
}

const questions = await askQuestions(say);
const held = await holdMemory();
const memory = held && { ...held, rows: undefined };
if (memory === undefined) say("EVALUATION NOT HELD: what a hook gives at a prompt");

if (options.json) print(JSON.stringify({ summarizer: name, contextWindow, sessions: results, exams, recall, questions, memory }, null, 2));
else {
  print(`Summaries by ${name}. A cell of facts is those in the summary / those found; what is missing can be had by recall.\n`);
  print(`${table([HEADINGS, ...results.map(rowOf), ...totals(results)])}\n`);
  printExams(exams);
  print("\nExam of recall: questions that one call answers, as they stand.\n");
  print(table([RECALL_HEADINGS, ...recall.map(recallRow)]));
  print("\nQuestions as people ask them, in one call: the place of the first entry that answers.\n");
  print(table([QUESTION_HEADINGS, ...questionRows(questions)]));
  if (memory !== undefined) {
    print(`\nWhat a hook gives at a prompt; halves by seed ${memory.seed}.\n`);
    print(table(memoryRows(memory)));
  }
  if (options.missed) printMissed(exams);
}
