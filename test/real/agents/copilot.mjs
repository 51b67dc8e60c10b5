// GitHub's Copilot CLI: events below ~/.copilot/session-state. Its rewind exists only on the screen and is not run here.
import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";

export const copilot = {
  name: "copilot",
  title: "Copilot CLI",
  reportsCacheWrites: false,

  install() {
    const installed = install("copilot", ["@github/copilot@1.0.102"]);
    return { ...installed, program: join(installed.root, "npm-loader.js") };
  },

  configure(home, url) {
    home.variables = {
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "scripted",
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "150000",
      COPILOT_OFFLINE: "true",
    };
  },

  steps(home, { program }) {
    const [first, second] = [randomUUID(), randomUUID()];
    const run = (id, prompt) => home.run([process.execPath, program, "--session-id", id, "--allow-all-tools", "-p", prompt]);
    return {
      "a turn with calls": () => run(first, "PROMPT-1 CHAIN[3]"),
      "calls in one reply, resumed": () => run(first, "PROMPT-2 PAIR"),
      "a turn, resumed again": () => run(first, "PROMPT-3"),
      "another session": () => run(second, "PROMPT-4 CHAIN[2]"),
      "a compaction within a turn": () => run(second, "PROMPT-5 CHAIN[4] FULL"),
      "a turn after the compaction": () => run(second, "PROMPT-6"),
    };
  },

  count: (home) =>
    filesBelow(home.path(".copilot", "session-state"), "events.jsonl").map((file) => countEvents(basename(dirname(file)), jsonLines(file))),
};

/** The use of a request stands in the event before its reply, that of a summary in the compaction. */
function countEvents(id, events) {
  const count = newCount(id);
  let usage = null;
  for (const { type, data, id: key } of events) {
    if (type === "user.message" && data.source === undefined) count.prompts.push(data.content);
    if (type === "session.usage_record") usage = usageOf(data.usage);
    if (type === "assistant.message") {
      count.replies.push({ key, text: data.content, usage });
      count.calls.push(...(data.toolRequests ?? []).map(({ toolCallId }) => toolCallId));
      usage = null;
    }
    if (type === "session.compaction_complete") count.replies.push({ key, text: "", usage: usageOf(data.compactionTokensUsed) });
    if (type === "tool.execution_complete")
      count.results.push({ id: data.toolCallId, text: data.result?.content ?? data.error?.message ?? "" });
  }
  return count;
}

const usageOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) => ({
  input: inputTokens - cacheReadTokens - cacheWriteTokens,
  output: outputTokens,
  cacheRead: cacheReadTokens,
  cacheWrite: cacheWriteTokens,
});
