// opencode: one database, spoken to through the program's own server. A fork is a copy without a link to its source, under new ids.
import { mkdirSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { newCount } from "../count.mjs";
import { install, platformFile } from "../install.mjs";
import { startProgramServer } from "../program-server.mjs";

/** The server that runs in each home. */
const servers = new WeakMap();

export const opencode = {
  name: "opencode",
  title: "opencode",
  writes: "opencode",
  reportsCacheWrites: false,

  install() {
    const installed = install("opencode", ["opencode-ai@1.18"]);
    return { ...installed, program: platformFile({ ...installed }, "opencode", "bin/opencode") };
  },

  configure(home, url) {
    home.variables = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
    mkdirSync(home.path(".config", "opencode"), { recursive: true });
    writeFileSync(home.path(".config", "opencode", "opencode.json"), JSON.stringify(settings(url)));
  },

  steps(home, { program }) {
    const server = startServer(home, program);
    const ids = [];
    const post = async (path, body) => (await server).post(path, body);
    const start = async () => ids.push((await post("/session", {})).id);
    const prompt = (id, text) => post(`/session/${id}/message`, { model: MODEL, parts: [{ type: "text", text }] });
    return {
      "a turn with calls": async () => {
        await start();
        await prompt(ids[0], "PROMPT-1 about @notes.txt CHAIN[3]");
      },
      "calls in one reply": () => prompt(ids[0], "PROMPT-2 PAIR"),
      "a fork": async () => prompt((await post(`/session/${ids[0]}/fork`, {})).id, "PROMPT-3 of the fork"),
      "a compaction": () => post(`/session/${ids[0]}/summarize`, MODEL),
      "a turn after the compaction": () => prompt(ids[0], "PROMPT-4 CHAIN[1]"),
      "a turn, taken back, and another one": async () => {
        await start();
        await prompt(ids[1], "PROMPT-5");
        await prompt(ids[1], "PROMPT-6");
        const messages = await (await server).get(`/session/${ids[1]}/message`);
        const last = messages.findLast(({ info }) => info.role === "user");
        await post(`/session/${ids[1]}/revert`, { messageID: last.info.id });
        await prompt(ids[1], "PROMPT-7 instead");
      },
    };
  },

  /** Ends the server of the home, if one has begun to listen. It does not always end when it is told to, and has nothing left to write then. */
  async close(home) {
    await servers.get(home)?.stop();
  },

  async place(home, text, _id, cwd, { program }) {
    const file = home.path("session.json");
    writeFileSync(file, text);
    await home.run([program, "import", file], { cwd });
  },

  async resume(home, { program }, id, cwd, prompt) {
    await (await startServer(home, program, cwd)).post(`/session/${id}/message`, { model: MODEL, parts: [{ type: "text", text: prompt }] });
  },

  /** What a prompt after a revert replaces is deleted from the database. Whether an entry is of a message that is there. */
  deletes(home) {
    const messages = read(home, (database) => database.prepare("SELECT id FROM message").all());
    const ids = new Set(messages.map(({ id }) => id));
    return (entryId) => !entryId.includes("msg_") || ids.has(entryId.slice(entryId.indexOf("msg_")));
  },

  count: (home) =>
    read(home, (database) => {
      const rows = (table, where) => database.prepare(`SELECT * FROM ${table} WHERE ${where} = ? ORDER BY time_created, id`);
      const sessions = database.prepare("SELECT id FROM session").all();
      return sessions.map(({ id }) =>
        countSession(id, rows("message", "session_id").all(id), (message) => rows("part", "message_id").all(message)),
      );
    }),
};

function read(home, query) {
  const database = new Database(home.path(".local", "share", "opencode", "opencode.db"), { readonly: true });
  try {
    return query(database);
  } finally {
    database.close();
  }
}

const MODEL = { providerID: "local", modelID: "scripted" };

const settings = (url) => ({
  autoupdate: false,
  share: "disabled",
  permission: "allow",
  model: "local/scripted",
  small_model: "local/scripted",
  provider: {
    local: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { scripted: { name: "scripted", tool_call: true, limit: { context: 200_000, output: 8000 } } },
    },
  },
});

async function startServer(home, program, cwd = home.project) {
  const command = [program, "serve", "--port", "0", "--hostname", "127.0.0.1"];
  const server = await startProgramServer(home, { command, name: "opencode serve", says: /listening on (http:\S+)/, cwd });
  servers.set(home, server);
  return server;
}

function countSession(id, messages, partsOf) {
  const count = newCount(id);
  for (const { id: message, data } of messages) {
    const { role, tokens, time, summary } = JSON.parse(data);
    const parts = partsOf(message).map((part) => JSON.parse(part.data));
    const text = parts.flatMap((part) => (part.type === "text" && part.synthetic !== true ? [part.text] : [])).join("\n");
    if (role === "user" && text !== "") count.prompts.push(text);
    if (role !== "assistant") continue;
    // A fork keeps the times of the replies that it copies.
    const key = `${time.created} ${text}`;
    count.replies.push({ key, text, usage: usageOf(tokens) });
    if (summary === true) continue;
    for (const part of parts.filter(({ type }) => type === "tool")) {
      count.calls.push(part.callID);
      if (part.state.status === "completed") count.results.push({ id: part.callID, text: part.state.output });
    }
  }
  return count;
}

const usageOf = ({ input, output, reasoning, cache }) => ({
  input,
  output: output + reasoning,
  cacheRead: cache.read,
  cacheWrite: cache.write,
});
