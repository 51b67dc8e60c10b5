// Grok Build: a log of the Agent Client Protocol for each session below ~/.grok/sessions. It writes the use of a turn, not of each request. A
// fork begins with a copy of the other log, under the ids of its events. It rewinds and compacts without a screen over the Agent Client Protocol.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";
import { RpcClient } from "../line-client.mjs";

export const grok = {
  name: "grok",
  title: "Grok Build",
  reportsCacheWrites: false,
  /** They are in `chat_history.jsonl` alone, which has the last state of the conversation and no history. */
  storesMentions: false,

  install() {
    const installed = install("grok", ["@xai-official/grok@1.0.41"]);
    // Unpacks the program.
    spawnSync(process.execPath, [join(installed.root, "bin/postinstall.js")], { cwd: installed.root });
    return { ...installed, program: join(installed.root, "bin/grok") };
  },

  configure(home, url) {
    mkdirSync(home.path(".grok"));
    writeFileSync(home.path(".grok", "config.toml"), settings(url));
  },

  steps(home, { program }) {
    const ids = [];
    const run = async (prompt, ...args) => {
      await home.run([program, "--always-approve", ...args, "-p", prompt]);
      ids.push(
        ...logs(home)
          .map(idOf)
          .filter((id) => !ids.includes(id)),
      );
    };
    return {
      "a turn with calls": () => run("PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply, resumed": () => run("PROMPT-2 PAIR", "--resume", ids[0]),
      "a turn, resumed again": () => run("PROMPT-3", "--resume", ids[0]),
      "a fork": () => run("PROMPT-4 of the fork", "--resume", ids[0], "--fork-session"),
      "another session": () => run("PROMPT-5 CHAIN[2]"),
      "a turn taken back, another one, a compaction and a turn after it": async () => {
        const client = new GrokClient(home.start([program, "agent", "--always-approve", "--no-leader", "stdio"]));
        await client.startSession(home.project);
        await client.prompt("PROMPT-6 CHAIN[2]");
        await client.prompt("PROMPT-7");
        await client.rewindTo(1);
        await client.prompt("PROMPT-8 instead");
        await client.prompt("/compact");
        await client.prompt("PROMPT-9 CHAIN[1]");
        await client.close();
      },
    };
  },

  count: (home) => logs(home).map((file) => countLog(idOf(file), jsonLines(file))),
};

/** A session of the Agent Client Protocol. */
class GrokClient extends RpcClient {
  #sessionId = "";

  async startSession(cwd) {
    await this.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    ({ sessionId: this.#sessionId } = await this.call("session/new", { cwd, mcpServers: [] }));
  }

  prompt(text) {
    return this.call("session/prompt", { sessionId: this.#sessionId, prompt: [{ type: "text", text }] });
  }

  /** Takes back the turns from a prompt on. `force`: without it, the answer is what would be done. */
  async rewindTo(targetPromptIndex) {
    const options = { mode: "conversation_only", force: true };
    const { success, error } = await this.call("_x.ai/rewind/execute", { sessionId: this.#sessionId, targetPromptIndex, ...options });
    if (!success) throw new Error(`The rewind failed: ${error}`);
  }
}

const logs = (home) => filesBelow(home.path(".grok", "sessions"), "updates.jsonl");

const idOf = (file) => basename(dirname(file));

const settings = (url) => `[cli]
auto_update = false
[models]
default = "scripted"
[model.scripted]
model = "scripted"
base_url = "${url}/v1"
api_key = "none"
context_window = 200000
`;

function countLog(id, records) {
  const count = newCount(id);
  let request;
  for (const { params } of records) {
    const { update, _meta: meta } = params;
    if (update.sessionUpdate === "user_message_chunk" && update._meta?.hostTurn !== true) count.prompts.push(update.content.text);
    if (update.sessionUpdate === "agent_message_chunk") {
      if (meta.streamStartMs !== request) count.replies.push({ key: meta.eventId + meta.streamStartMs, text: "", usage: null });
      request = meta.streamStartMs;
      count.replies.at(-1).text += update.content.text;
    }
    if (update.sessionUpdate === "tool_call") count.calls.push(update.toolCallId);
    if (update.sessionUpdate === "tool_call_update" && update.status === "completed")
      count.results.push({ id: update.toolCallId, text: update.rawOutput.output_for_prompt });
    // A turn of the program itself, such as a compaction, has none.
    if (update.sessionUpdate === "turn_completed" && update.usage !== undefined)
      count.replies.push({ key: update.prompt_id, text: "", usage: usageOf(update.usage) });
  }
  return count;
}

const usageOf = ({ inputTokens, outputTokens, cachedReadTokens, cacheCreationTokens }) => ({
  input: inputTokens - cachedReadTokens - cacheCreationTokens,
  output: outputTokens,
  cacheRead: cachedReadTokens,
  cacheWrite: cacheCreationTokens,
});
