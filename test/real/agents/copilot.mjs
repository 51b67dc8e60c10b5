// GitHub's Copilot CLI: events below ~/.copilot/session-state. Its rewind exists only on the screen and is not run here.
import { basename, dirname, join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";

const copilotAgent = ({ name, version, ...rest }) => ({
  name,
  title: "Copilot CLI",
  reportsCacheWrites: false,
  ...rest,

  install() {
    const installed = install(name, [`@github/copilot@${version}`]);
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
    const ids = [];
    const run = async (id, prompt) => {
      const resumed = id === undefined ? [] : [`--resume=${id}`];
      await home.run([process.execPath, program, ...resumed, "--allow-all-tools", "-p", prompt]);
      ids.push(
        ...eventFiles(home)
          .map(idOf)
          .filter((one) => !ids.includes(one)),
      );
    };
    return {
      "a turn with calls": () => run(undefined, "PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply, resumed": () => run(ids[0], "PROMPT-2 PAIR"),
      "a turn, resumed again": () => run(ids[0], "PROMPT-3"),
      "another session": () => run(undefined, "PROMPT-4 CHAIN[2]"),
      "a compaction within a turn": () => run(ids[1], "PROMPT-5 CHAIN[4] FULL"),
      "a turn after the compaction": () => run(ids[1], "PROMPT-6"),
    };
  },

  count: (home) => eventFiles(home).map((file) => countEvents(idOf(file), jsonLines(file))),
});

const eventFiles = (home) => filesBelow(home.path(".copilot", "session-state"), "events.jsonl");

const idOf = (file) => basename(dirname(file));

export const copilot = copilotAgent({ name: "copilot", version: "1.0.102" });

/** It writes the output of a reply alone. */
export const copilotBefore = copilotAgent({
  name: "copilot-1.0.40",
  version: "1.0.40",
  reports: ({ output }) => ({ input: 0, output, cacheRead: 0, cacheWrite: 0 }),
});

/** The use of a request stands in the event before its reply, that of a summary in the compaction. */
function countEvents(id, events) {
  const count = newCount(id);
  let usage = null;
  for (const { type, data, id: key } of events) {
    if (type === "user.message" && data.source === undefined) count.prompts.push(data.content);
    if (type === "session.usage_record") usage = usageOf(data.usage);
    if (type === "assistant.message") {
      count.replies.push({ key, text: data.content, usage: usage ?? outputOf(data) });
      count.calls.push(...(data.toolRequests ?? []).map(({ toolCallId }) => toolCallId));
      usage = null;
    }
    if (type === "session.compaction_complete") count.replies.push({ key, text: "", usage: usageOf(data.compactionTokensUsed) });
    if (type === "tool.execution_complete")
      count.results.push({ id: data.toolCallId, text: data.result?.content ?? data.error?.message ?? "" });
  }
  return count;
}

const outputOf = ({ outputTokens: output }) => (output === undefined ? null : { input: 0, output, cacheRead: 0, cacheWrite: 0 });

const usageOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) => ({
  input: inputTokens - cacheReadTokens - cacheWriteTokens,
  output: outputTokens,
  cacheRead: cacheReadTokens,
  cacheWrite: cacheWriteTokens,
});
