// Qwen Code: a tree of records below ~/.qwen/projects/<project>/chats, beside it a ledger of prompts. Its server takes back turns without a screen.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { until } from "../home.mjs";
import { install } from "../install.mjs";
import { NEWER_NODE, newerNode } from "../node.mjs";
import { startProgramServer } from "../program-server.mjs";

export const qwen = {
  name: "qwen",
  title: "Qwen Code",
  reportsCacheWrites: false,

  install() {
    const installed = install("qwen", ["@qwen-code/qwen-code@0.24.4"], [NEWER_NODE]);
    return { ...installed, program: join(installed.root, "cli.js"), node: newerNode(installed) };
  },

  configure(home, url) {
    home.variables = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" };
    mkdirSync(home.path(".qwen"));
    writeFileSync(home.path(".qwen", "settings.json"), JSON.stringify(SETTINGS));
  },

  steps(home, { program, node }) {
    const [first, second] = [randomUUID(), randomUUID()];
    const run = (...args) => home.run([node, program, "--yolo", ...args]);
    return {
      "a turn with calls": () => run("--session-id", first, "PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply, resumed": () => run("--resume", first, "PROMPT-2 PAIR"),
      "another session": () => run("--session-id", second, "PROMPT-3 CHAIN[2]"),
      "a compression": () => run("--resume", second, "/compress"),
      "a turn after the compression": () => run("--resume", second, "PROMPT-4 CHAIN[1]"),
      "a turn taken back, and another one": async () => {
        const command = [node, program, "serve", "--port", "0", "--no-web"];
        const server = await startProgramServer(home, { command, name: "qwen serve", says: /(http:\/\/127\.[^\s/]+)/ });
        const { sessionId } = await server.post("/session", { cwd: home.project });
        await server.post(`/session/${sessionId}/approval-mode`, { mode: "yolo" });
        const prompt = async (text) => {
          const { promptId } = await server.post(`/session/${sessionId}/prompt`, { prompt: [{ type: "text", text }] });
          await until(() => hasEnded(home, sessionId, promptId));
        };
        await prompt("PROMPT-5 CHAIN[2]");
        await prompt("PROMPT-6");
        const { snapshots } = await server.get(`/session/${sessionId}/rewind/snapshots`);
        await server.post(`/session/${sessionId}/rewind`, { promptId: snapshots.at(-1).promptId });
        await prompt("PROMPT-7 instead");
        await server.stop();
      },
    };
  },

  count: (home) =>
    chatFiles(home)
      .filter((file) => !file.endsWith(LEDGER))
      .map((file) => countChat(basename(file, ".jsonl"), jsonLines(file))),
};

const LEDGER = ".ledger.jsonl";

const chatFiles = (home) => filesBelow(home.path(".qwen", "projects"), ".jsonl").filter((file) => file.includes("/chats/"));

/** The server answers when it has a prompt, and writes into the ledger of the session how it ended. */
function hasEnded(home, sessionId, promptId) {
  const ledger = chatFiles(home).find((file) => file.endsWith(`${sessionId}${LEDGER}`));
  return ledger !== undefined && jsonLines(ledger).some((record) => record.promptId === promptId && record.terminal !== undefined);
}

const SETTINGS = {
  security: { auth: { selectedType: "openai" } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  model: { name: "scripted" },
  memory: { enableAutoMemory: false, autoExtract: false },
};

/** Replies to requests of the program itself, such as the one for a compression, are in no record. */
function countChat(id, records) {
  const count = newCount(id);
  for (const { uuid, type, subtype, message, usageMetadata: usage } of records) {
    const parts = message?.parts ?? [];
    const text = parts.flatMap((part) => (part.text === undefined || part.thought === true ? [] : [part.text])).join("\n");
    if (type === "user" && subtype === undefined) count.prompts.push(text);
    if (type === "assistant") count.replies.push({ key: uuid, text, usage: usage === undefined ? null : usageOf(usage) });
    count.calls.push(...parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [call.id])));
    const answers = type === "tool_result" ? parts.flatMap(({ functionResponse: answer }) => answer ?? []) : [];
    count.results.push(...answers.map((answer) => ({ id: answer.id, text: answer.response.output ?? answer.response.error })));
  }
  return count;
}

const usageOf = ({ promptTokenCount, candidatesTokenCount, thoughtsTokenCount = 0, cachedContentTokenCount = 0 }) => ({
  input: promptTokenCount - cachedContentTokenCount,
  output: candidatesTokenCount + thoughtsTokenCount,
  cacheRead: cachedContentTokenCount,
  cacheWrite: 0,
});
