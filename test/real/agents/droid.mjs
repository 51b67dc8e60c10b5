// Droid (Factory) resumes sessions only with an account. A tree of messages with Anthropic's blocks below ~/.factory/sessions. It writes the use of a session, not of each request.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install, platformFile } from "../install.mjs";

export const droid = {
  name: "droid",
  title: "Droid",
  reportsCacheWrites: false,

  install() {
    const installed = install("droid", ["droid@0.215.0"]);
    return { ...installed, program: platformFile(installed, "@factory/cli", "bin/droid") };
  },

  configure(home, url) {
    mkdirSync(home.path(".factory"));
    const model = {
      model: "scripted",
      displayName: "scripted",
      baseUrl: `${url}/v1`,
      apiKey: "none",
      provider: "generic-chat-completion-api",
    };
    writeFileSync(home.path(".factory", "settings.json"), JSON.stringify({ customModels: [{ ...model, maxOutputTokens: 8000 }] }));
  },

  steps(home, { program }) {
    const run = (prompt) => home.run([program, "exec", "--skip-permissions-unsafe", "-m", "custom:scripted-0", prompt]);
    return {
      "a turn with calls": () => run("PROMPT-1 CHAIN[3]"),
      "calls in one reply": () => run("PROMPT-2 PAIR"),
      "another session": () => run("PROMPT-3 CHAIN[2]"),
    };
  },

  count: (home) => sessions(home).map((file) => countSession(idOf(file), jsonLines(file))),
};

const sessions = (home) => filesBelow(home.path(".factory", "sessions"), ".jsonl");

const idOf = (file) => basename(file, ".jsonl");

function countSession(id, records) {
  const count = newCount(id);
  for (const { type, id: key, message } of records) {
    if (type !== "message") continue;
    const text = message.content
      .flatMap((block) => (block.type === "text" && !block.text.startsWith("<system-") ? [block.text] : []))
      .join("\n");
    if (message.role === "assistant") count.replies.push({ key, text, usage: null });
    else if (text !== "") count.prompts.push(text);
    count.calls.push(...message.content.filter((block) => block.type === "tool_use").map((block) => block.id));
    const results = message.content.filter((block) => block.type === "tool_result");
    count.results.push(...results.map((block) => ({ id: block.tool_use_id, text: block.content })));
  }
  return count;
}
