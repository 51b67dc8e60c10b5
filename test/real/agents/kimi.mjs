// Kimi Code: a journal for each agent of a session below ~/.kimi-code/sessions. Its server takes back turns and compacts without a screen.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { until } from "../home.mjs";
import { install } from "../install.mjs";
import { NEWER_NODE, newerNode } from "../node.mjs";
import { startProgramServer } from "../program-server.mjs";

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
      "a turn with calls": () => run("PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply, resumed": () => run("PROMPT-2 PAIR", "--session", ids[0]),
      "a turn, resumed again": () => run("PROMPT-3", "--session", ids[0]),
      "another session": () => run("PROMPT-4 CHAIN[2]"),
      "a turn taken back, another one, a compaction and a turn after it": async () => {
        const server = await KimiServer.start(home, { program, node });
        const id = await server.newSession(home.project);
        await server.prompt(id, "PROMPT-5 CHAIN[2]");
        await server.prompt(id, "PROMPT-6");
        await server.act(id, "undo", { count: 1 });
        await server.prompt(id, "PROMPT-7 instead");
        await server.act(id, "compact", {});
        await server.prompt(id, "PROMPT-8 CHAIN[1]");
        await server.stop();
      },
    };
  },

  count: (home) => journals(home).map((file) => countJournal(idOf(file), jsonLines(file))),
};

class KimiServer {
  #server;

  constructor(server) {
    this.#server = server;
  }

  static async start(home, { program, node }) {
    const command = [node, program, "web", "--no-open", "--port", "0", "--dangerous-bypass-auth"];
    return new KimiServer(await startProgramServer(home, { command, name: "kimi web", says: /Local: +(http:\S+)\// }));
  }

  async #post(path, body) {
    const { code, msg, data } = await this.#server.post(`/api/v1/sessions${path}`, body);
    if (code !== 0) throw new Error(`${path}: ${msg}`);
    return data;
  }

  async newSession(cwd) {
    return (await this.#post("", { metadata: { cwd } })).id;
  }

  async prompt(id, text) {
    await this.#post(`/${id}/prompts`, { content: [{ type: "text", text }], model: "scripted", permission_mode: "yolo" });
    await this.#idle(id);
  }

  /** An action of a session: `undo`, `compact`. */
  async act(id, action, body) {
    await this.#post(`/${id}:${action}`, body);
    await this.#idle(id);
  }

  async #idle(id) {
    await until(async () => !(await this.#server.get(`/api/v1/sessions/${id}/status`)).data.busy);
  }

  stop() {
    return this.#server.stop();
  }
}

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
  for (const { type, message, event, usageScope, usage, time } of records) {
    if (type === "context.append_message" && message.role === "user" && message.origin.kind === "user")
      count.prompts.push(textOf(message.content));
    // The request for a summary is no step of a turn.
    if (type === "usage.record" && usageScope === "session") count.replies.push({ key: `${id} ${time}`, text: "", usage: usageOf(usage) });
    if (type === "context.append_loop_event") addEvent(count, texts, event);
  }
  return count;
}

/** `texts`: those of each step until it ends. */
function addEvent(count, texts, event) {
  if (event.type === "content.part" && event.part.type === "text")
    texts.set(event.stepUuid, [...(texts.get(event.stepUuid) ?? []), event.part.text]);
  if (event.type === "tool.call") count.calls.push(event.toolCallId);
  if (event.type === "tool.result") count.results.push({ id: event.toolCallId, text: event.result.output });
  if (event.type === "step.end")
    count.replies.push({ key: event.uuid, text: (texts.get(event.uuid) ?? []).join("\n"), usage: usageOf(event.usage) });
}

const textOf = (content) => content.map(({ text }) => text).join("\n");

const usageOf = ({ inputOther, output, inputCacheRead, inputCacheCreation }) => ({
  input: inputOther,
  output,
  cacheRead: inputCacheRead,
  cacheWrite: inputCacheCreation,
});
