// Gemini CLI: logs below ~/.gemini/tmp/<project>/chats. A message that stands several times is one; a session that was resumed may have several
// files. When Gemini CLI starts, it removes files that it takes for empty, with all files of their session. Its rewind exists only on the screen and is not run here.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";

export const gemini = {
  name: "gemini",
  title: "Gemini CLI",
  /** It lists the files of the folder again. */
  renews: /^<session_context>/,
  reportsCacheWrites: false,

  install() {
    const installed = install("gemini", ["@google/gemini-cli@0.61.0"]);
    return { ...installed, program: join(installed.root, "bundle/gemini.js") };
  },

  configure(home, url) {
    home.variables = { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "none", GEMINI_CLI_TRUST_WORKSPACE: "true" };
    mkdirSync(home.path(".gemini"));
    writeFileSync(home.path(".gemini", "settings.json"), JSON.stringify(SETTINGS));
  },

  steps(home, { program }) {
    const [first, second] = [randomUUID(), randomUUID()];
    const run = (...args) => home.run([process.execPath, program, "--yolo", "--model", "gemini-2.5-pro", ...args]);
    return {
      "a turn with calls": () => run("--session-id", first, "-p", "PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply, resumed": () => run("--resume", first, "-p", "PROMPT-2 PAIR"),
      "a turn, resumed in a changed folder": () => {
        // Gemini CLI tells the model the files of the folder, so its first message is another one now.
        writeFileSync(join(home.project, "new.txt"), "new");
        return run("--resume", first, "-p", "PROMPT-3");
      },
      "another session": () => run("--session-id", second, "-p", "PROMPT-4 CHAIN[2]"),
      "a compression within a turn": () => run("--resume", second, "-p", "PROMPT-5 CHAIN[3] FULL"),
      "a turn after the compression": () => run("--resume", second, "-p", "PROMPT-6"),
    };
  },

  count(home) {
    const files = filesBelow(home.path(".gemini", "tmp"), ".jsonl")
      .filter((file) => file.includes("/chats/"))
      .map(jsonLines);
    const ids = [...new Set(files.map(([{ sessionId }]) => sessionId))];
    return ids.map((id) => countLogs(id, files.filter(([{ sessionId }]) => sessionId === id).flat()));
  },
};

const SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  model: { compressionThreshold: 0.1 },
};

/** Lists of all messages (`$set`) repeat what records said before them, after a compression under new ids. */
function countLogs(id, records) {
  const count = newCount(id);
  const messages = new Map(records.filter(({ type }) => type !== undefined).map((message) => [message.id, message]));
  const results = new Map();
  for (const { id: key, type, content, tokens, toolCalls = [] } of messages.values()) {
    const parts = partsOf(content);
    const text = parts.flatMap((part) => (part.text === undefined || part.thought === true ? [] : [part.text])).join("\n");
    if (type === "gemini") count.replies.push({ key, text, usage: usageOf(tokens) });
    if (type === "user" && text !== "" && !text.startsWith("<")) count.prompts.push(text);
    count.calls.push(...toolCalls.map((call) => call.id));
    const answers = [...parts, ...toolCalls.flatMap(({ result }) => result ?? [])].flatMap(({ functionResponse: answer }) => answer ?? []);
    for (const { id: call, response } of answers) results.set(call, response.output ?? response.error);
  }
  count.results = [...results].map(([call, text]) => ({ id: call, text }));
  return count;
}

const partsOf = (content) => (typeof content === "string" ? [{ text: content }] : [content].flat());

const usageOf = ({ input, output, cached, thoughts }) => ({
  input: input - cached,
  output: output + thoughts,
  cacheRead: cached,
  cacheWrite: 0,
});
