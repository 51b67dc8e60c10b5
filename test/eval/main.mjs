// npm run eval: what compaction keeps of real sessions. Each is compacted once, the newest quarter of its messages stays,
// and the facts found in what was summarised are looked up in the summary; the rest is in the store, by recall only.
//   --json               the report as JSON           --summaries   also print each summary
//   --only TEXT          sessions whose name has it   --window N    the model's window, in tokens (default 200000)
//   --base-url URL --model NAME [--api-key-env NAME]  a model behind an OpenAI-compatible server writes the summaries
// Without a model the built-in extract writes them.
import { parseArgs } from "node:util";
import { openAICompatibleSummarizer } from "@bough/compaction";
import { evaluate } from "./evaluate.mjs";
import { openSessions } from "./sessions.mjs";
import { HEADINGS, rowOf, table, totals } from "./table.mjs";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    summaries: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    window: { type: "string", default: "200000" },
    "base-url": { type: "string" },
    model: { type: "string" },
    "api-key-env": { type: "string" },
  },
});

const contextWindow = Number(options.window);
if (!Number.isInteger(contextWindow) || contextWindow < 1) throw new RangeError("--window must be a number of tokens");

/** Who writes the summaries, and its name. */
function chooseSummarizer() {
  const { "base-url": baseURL, model, "api-key-env": keyName } = options;
  if (baseURL === undefined && model === undefined) return { name: "the built-in extract (no model)", summarizer: undefined };
  if (baseURL === undefined || model === undefined) throw new RangeError("--base-url and --model go together");
  const apiKey = keyName === undefined ? undefined : process.env[keyName];
  if (keyName !== undefined && apiKey === undefined) throw new RangeError(`the environment has no ${keyName}`);
  return { name: model, summarizer: openAICompatibleSummarizer({ baseURL, model, apiKey }) };
}

const print = (text) => process.stdout.write(`${text}\n`);
const { name, summarizer } = chooseSummarizer();
const { store, sessions } = await openSessions((text) => process.stderr.write(`[eval] ${text}\n`));
const results = [];
try {
  for (const { title, session } of sessions.filter((one) => one.title.includes(options.only))) {
    const result = { session: title, ...(await evaluate(session, { summarizer, contextWindow })) };
    results.push(result);
    if (options.summaries && result.summary !== null) print(`\n=== ${title}\n\n${result.summary}\n`);
  }
} finally {
  await store.close();
}

if (options.json) print(JSON.stringify({ summarizer: name, contextWindow, sessions: results }, null, 2));
else {
  print(`Summaries by ${name}. A cell of facts is those in the summary / those found; what is missing can be had by recall.\n`);
  print(table([HEADINGS, ...results.map(rowOf), ...totals(results)]));
}
