// Kimi Code: a journal for each agent of a session below ~/.kimi-code/sessions.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install } from "../install.mjs";
import { NEWER_NODE, newerNode } from "../node.mjs";

export const kimi = {
  name: "kimi",
  title: "Kimi Code",
  reportsCacheWrites: false,

  install() {
    const installed = install("kimi", ["@moonshot-ai/kimi-code@2.1.0"], [NEWER_NODE]);
    return { ...installed, program: join(installed.root, "dist/main.mjs"), node: newerNode(installed) };
  },

  configure(home, url) {
    mkdirSync(home.path(".kimi-code"));
    writeFileSync(home.path(".kimi-code", "config.toml"), settings(url));
  },

  steps(home, { program, node }) {
    const ids = [];
    const run = async (prompt, ...args) => {
      await home.run([node, program, ...args, "-p", prompt]);
      ids.push(
        ...journals(home)
          .map(idOf)
          .filter((id) => !ids.includes(id)),
      );
    };
    return {
      "a turn with calls": () => run("PROMPT-1 CHAIN[3]"),
      "calls in one reply, resumed": () => run("PROMPT-2 PAIR", "--session", ids[0]),
      "a turn, resumed again": () => run("PROMPT-3", "--session", ids[0]),
      "another session": () => run("PROMPT-4 CHAIN[2]"),
    };
  },

  count: (home) => journals(home).map((file) => countJournal(idOf(file), jsonLines(file))),
};

const journals = (home) => filesBelow(home.path(".kimi-code", "sessions"), "wire.jsonl");

const idOf = (file) => file.split("/").at(-4);

const settings = (url) => `default_model = "scripted"
[providers.local]
type = "openai"
base_url = "${url}/v1"
api_key = "none"
[models.scripted]
provider = "local"
model = "scripted"
max_context_size = 200000
`;

function countJournal(id, records) {
  const count = newCount(id);
  const texts = new Map();
  for (const { type, message, event } of records) {
    if (type === "context.append_message" && message.role === "user" && message.origin.kind === "user")
      count.prompts.push(textOf(message.content));
    if (type !== "context.append_loop_event") continue;
    if (event.type === "content.part" && event.part.type === "text")
      texts.set(event.stepUuid, [...(texts.get(event.stepUuid) ?? []), event.part.text]);
    if (event.type === "tool.call") count.calls.push(event.toolCallId);
    if (event.type === "tool.result") count.results.push({ id: event.toolCallId, text: event.result.output });
    if (event.type === "step.end")
      count.replies.push({ key: event.uuid, text: (texts.get(event.uuid) ?? []).join("\n"), usage: usageOf(event.usage) });
  }
  return count;
}

const textOf = (content) => content.map(({ text }) => text).join("\n");

const usageOf = ({ inputOther, output, inputCacheRead, inputCacheCreation }) => ({
  input: inputOther,
  output,
  cacheRead: inputCacheRead,
  cacheWrite: inputCacheCreation,
});
