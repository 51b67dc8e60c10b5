// Codex: rollouts below ~/.codex/sessions. A fork and a reverted thread name the part of another file that comes before them
// (`forked_from_ordinal_exclusive`, `history_base`) and copy nothing; a reverted thread keeps its id and goes on in a second file.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";
import { RpcClient } from "../line-client.mjs";

export const codex = {
  name: "codex",
  title: "Codex",
  writes: "codex",
  reportsCacheWrites: false,

  install() {
    const installed = install("codex", ["@openai/codex@0.171.0"]);
    return { ...installed, program: join(installed.root, "bin/codex.js") };
  },

  configure(home, url) {
    home.variables = { LOCAL_KEY: "none" };
    mkdirSync(home.path(".codex"), { recursive: true });
    writeFileSync(home.path(".codex", "config.toml"), CONFIG.replace("URL", url));
  },

  steps(home, { program }) {
    const threads = [];
    const run = async (...args) => {
      const { stdout } = await home.run([process.execPath, program, "exec", ...args, "--json", ...FLAGS]);
      const started = stdout.split("\n").find((line) => line.includes('"thread.started"'));
      threads.push(started === undefined ? undefined : JSON.parse(started).thread_id);
    };
    const revert = async () => {
      const server = await appServer(home, program);
      const { thread } = await server.call("thread/resume", { threadId: threads.at(-1) });
      await server.call("thread/revert", { threadId: threads.at(-1), beforeTurnId: thread.turns.at(-1).id });
      await server.close();
    };
    return {
      "a turn with calls": () => run("PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply": () => run("resume", threads[0], "PROMPT-2 PAIR"),
      "a fork": () => run("fork", threads[0], "PROMPT-3 of the fork"),
      "a turn that fills the window": () => run("resume", threads[0], "PROMPT-4 FULL"),
      "a turn after a compaction": () => run("resume", threads[0], "PROMPT-5 CHAIN[1]"),
      "a fork after the compaction": () => run("fork", threads[0], "PROMPT-6 of the fork"),
      "a session to rewind": () => run("PROMPT-7"),
      "a turn to take back": () => run("resume", threads.at(-1), "PROMPT-8"),
      "a rewind": revert,
      "a turn after the rewind": () => run("resume", threads.at(-1), "PROMPT-9 instead"),
    };
  },

  resume: (home, { program }, id, cwd, prompt) => home.run([process.execPath, program, "exec", "resume", id, prompt, ...FLAGS], { cwd }),

  /** Puts an exported rollout where Codex looks for it. */
  place(home, text, id) {
    const folder = home.path(".codex", "sessions", "2026", "01", "02");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`), text);
  },

  count(home) {
    const files = filesBelow(home.path(".codex", "sessions"), ".jsonl").map(jsonLines);
    const ids = [...new Set(files.map(threadOf))];
    return ids.map((id) => countThread(id, files));
  },
};

/** The flags of every run. */
export const FLAGS = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];

const CONFIG = `model = "gpt-5.1-codex"
model_provider = "local"
model_auto_compact_token_limit = 150000

[model_providers.local]
name = "local"
base_url = "URL/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
supports_websockets = false
`;

/** The program's server for editors, which takes turns back. */
async function appServer(home, program) {
  const client = new RpcClient(home.start([process.execPath, program, "app-server"]));
  const clientInfo = { name: "bough", title: null, version: "0" };
  await client.call("initialize", { clientInfo, capabilities: { experimentalApi: true, requestAttestation: false } });
  return client;
}

const threadOf = (records) => records[0].payload.id;

/**
 * The count of a thread: of the records that Codex goes on with, and of those that a revert took back, each once. A file that begins at an
 * ordinal of another thread begins with the records of that thread before it.
 */
function countThread(id, files) {
  const own = files.filter((records) => threadOf(records) === id);
  const records = new Map(
    own.flatMap((file) => [...inheritedRecords(file, id, files), ...file]).map((record) => [JSON.stringify(record), record]),
  );
  const count = newCount(id);
  let text = [];
  for (const { type, payload } of records.values()) {
    if (type === "token_usage_record") {
      count.replies.push({ key: payload.response_id, text: text.join("\n"), usage: usageOf(payload.usage) });
      text = [];
    }
    if (type !== "response_item") continue;
    if (payload.type === "message" && payload.role === "assistant") text.push(textOf(payload));
    if (payload.type === "message" && payload.role === "user" && !textOf(payload).startsWith("<")) count.prompts.push(textOf(payload));
    if (payload.type === "function_call") count.calls.push(payload.call_id);
    if (payload.type === "function_call_output") count.results.push({ id: payload.call_id, text: payload.output });
  }
  return count;
}

function inheritedRecords([{ payload }], id, files) {
  const base = payload.history_base?.thread_id ?? payload.forked_from_id;
  const end = payload.history_base?.end_ordinal_exclusive ?? payload.forked_from_ordinal_exclusive;
  if (base === undefined || base === id) return [];
  return files.filter((records) => threadOf(records) === base).flatMap((records) => records.filter(({ ordinal }) => ordinal < end));
}

const textOf = ({ content }) => content.map(({ text }) => text ?? "").join("\n");

const usageOf = (usage) => ({
  input: usage.input_tokens - usage.cached_input_tokens,
  output: usage.output_tokens,
  cacheRead: usage.cached_input_tokens,
  cacheWrite: usage.cache_write_input_tokens ?? 0,
});
