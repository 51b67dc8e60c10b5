// pi under its two names, and oh-my-pi: session files with a tree, spoken to in RPC mode. A file has every branch; a fork is a file of its own that
// copies entries with their ids.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install, platformFile } from "../install.mjs";
import { LineClient } from "../line-client.mjs";

/** An extension with the command `/back`, which does what a choice in the screen of `/tree` does: the leaf goes before the last prompt. */
const BACK = `export default (pi) => pi.registerCommand("back", { handler: async (_args, ctx) => {
  const prompt = ctx.sessionManager.getBranch().filter((entry) => entry.type === "message" && entry.message.role === "user").at(-1);
  await ctx.navigateTree(prompt.id, { summarize: false });
} });
`;

function piAgent({ name, title, folder, packages, beside = [], command, modelsFile, writes }) {
  const sessions = (home) => filesBelow(home.path(folder, "agent", "sessions"), ".jsonl");
  const newest = (home) => headerOf(jsonLines(sessions(home).at(-1)));
  const flags = ["--provider", "local", "--model", "scripted"];
  const fileOf = (home, id) => sessions(home).find((file) => file.endsWith(`_${id}.jsonl`));

  return {
    name,
    title,
    writes,
    reportsCacheWrites: false,

    install() {
      const installed = install(name, packages, beside);
      return { ...installed, command: command(installed) };
    },

    configure(home, url) {
      home.variables = { PI_OFFLINE: "1" };
      mkdirSync(home.path(folder, "agent"), { recursive: true });
      writeFileSync(home.path(folder, "agent", modelsFile), JSON.stringify(models(url)));
      writeFileSync(home.path("back.js"), BACK);
    },

    steps(home, { command: program }) {
      const ids = [];
      const open = (...args) => new LineClient(home.start([...program, "--mode", "rpc", ...flags, "-e", home.path("back.js"), ...args]));
      const prompt = async (client, message) => {
        const ended = client.next(({ type }) => type === "agent_end");
        client.send({ type: "prompt", message });
        await ended;
      };
      const told = async (client, message) => {
        const { success, error } = await client.ask({ id: "1", ...message });
        if (success !== true) throw new Error(`${message.type}: ${error}`);
      };
      const run = async (args, ...messages) => {
        const client = open(...args);
        for (const message of messages) await (typeof message === "string" ? prompt(client, message) : told(client, message));
        await client.close();
        ids.push(newest(home).id);
      };
      return {
        "a turn with calls": () => run([], "PROMPT-1 about @notes.txt CHAIN[3]"),
        "calls in one reply": () => run(["--session", fileOf(home, ids[0])], "PROMPT-2 PAIR"),
        "a fork": () => run(["--fork", fileOf(home, ids[0])], "PROMPT-3 of the fork"),
        "a compaction and a turn after it": () =>
          run(["--session", fileOf(home, ids[0])], FILLER, { type: "compact" }, "PROMPT-5 CHAIN[1]"),
        "a turn, taken back, and another one": () =>
          run([], "PROMPT-6", "PROMPT-7", { type: "prompt", message: "/back" }, "PROMPT-8 instead"),
      };
    },

    resume: (home, { command: program }, id, cwd, text) =>
      home.run([...program, "-p", ...flags, "--session", fileOf(home, id), text], { cwd }),

    place(home, text, id, cwd) {
      const place = home.path(folder, "agent", "sessions", `--${cwd.replaceAll("/", "-").slice(1)}--`);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, `2026-01-02T03-04-05-678Z_${id}.jsonl`), text);
    },

    count: (home) => sessions(home).map((file) => countFile(jsonLines(file))),
  };
}

/** A prompt of more than the 20,000 tokens that pi keeps behind a compaction. */
const FILLER = `PROMPT-4 ${"some words of a long prompt ".repeat(4000)}`;

const models = (url) => ({
  providers: {
    local: {
      baseUrl: `${url}/v1`,
      apiKey: "none",
      api: "openai-completions",
      models: [
        {
          ...{ id: "scripted", name: "scripted", reasoning: false, input: ["text"], contextWindow: 200_000, maxTokens: 8000 },
          cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
        },
      ],
    },
  },
});

export const piMario = piAgent({
  name: "pi-0.73",
  title: "pi (@mariozechner)",
  folder: ".pi",
  packages: ["@mariozechner/pi-coding-agent@0.73.1"],
  command: ({ root }) => [process.execPath, join(root, "dist/cli.js")],
  modelsFile: "models.json",
  writes: "pi",
});

export const pi = piAgent({
  name: "pi",
  title: "pi (@earendil-works)",
  folder: ".pi",
  packages: ["@earendil-works/pi-coding-agent@1.6.0"],
  // It needs Node.js 22 or later, which its users have.
  beside: [`node-${process.platform}-${process.arch}@24.21.0`],
  command: (installed) => [platformFile(installed, "node", "bin/node"), join(installed.root, "dist/cli.js")],
  modelsFile: "models.json",
  writes: "pi",
});

export const ohMyPi = piAgent({
  name: "oh-my-pi",
  title: "oh-my-pi",
  folder: ".omp",
  packages: ["@oh-my-pi/pi-coding-agent@18.2.3"],
  beside: ["bun@1.4.5"],
  command: (installed) => [platformFile(installed, "@oven/bun", "bin/bun"), join(installed.root, "dist/cli.js")],
  modelsFile: "models.yml",
  writes: undefined,
});

/** The header of a session; oh-my-pi writes the title before it. */
const headerOf = (records) => records.find(({ type }) => type === "session");

function countFile(records) {
  const count = newCount(headerOf(records).id);
  for (const { id: key, type, message, usage } of records) {
    if (usage !== undefined && type !== "message") count.replies.push({ key, text: "", usage: usageOf(usage) });
    if (type !== "message") continue;
    if (message.role === "user") count.prompts.push(textOf(message.content));
    if (message.role === "toolResult") count.results.push({ id: message.toolCallId, text: textOf(message.content) });
    if (message.role !== "assistant") continue;
    count.replies.push({ key: message.responseId ?? key, text: textOf(message.content), usage: usageOf(message.usage) });
    count.calls.push(...message.content.filter((block) => block.type === "toolCall").map((call) => call.id));
  }
  return count;
}

const textOf = (content) =>
  typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

const usageOf = ({ input, output, cacheRead, cacheWrite }) => ({ input, output, cacheRead, cacheWrite });
