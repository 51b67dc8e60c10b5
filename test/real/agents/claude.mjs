// Claude Code: transcripts below ~/.claude/projects, a file for each session. A fork copies the records of its source with their uuids.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install, platformFile } from "../install.mjs";

export const claude = {
  name: "claude",
  title: "Claude Code",
  writes: "claude",
  reportsCacheWrites: true,

  install() {
    const installed = install("claude", ["@anthropic-ai/claude-code@2.1.332"]);
    return { ...installed, program: platformFile(installed, "@anthropic-ai/claude-code", "claude") };
  },

  configure(home, url) {
    home.variables = {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    };
  },

  steps(home, { program }) {
    const [first, second] = [randomUUID(), randomUUID()];
    const run = (...args) => home.run([program, ...FLAGS, ...args]);
    const replyBefore = (prompt) => {
      const records = jsonLines(transcript(home, second));
      const at = records.findIndex(({ message }) => message?.content === prompt);
      return records.slice(0, at).findLast(({ type }) => type === "assistant").uuid;
    };
    return {
      "a turn with calls": () => run("--session-id", first, "PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply": () => run("--resume", first, "PROMPT-2 PAIR"),
      "a fork": () => run("--resume", first, "--fork-session", "PROMPT-3 of the fork"),
      "a compaction": () => run("--resume", first, "/compact"),
      "a turn after the compaction": () => run("--resume", first, "PROMPT-4 CHAIN[1]"),
      "a fork after the compaction": () => run("--resume", first, "--fork-session", "PROMPT-5 of the fork"),
      "a session to rewind": () => run("--session-id", second, "PROMPT-6"),
      "a turn to take back": () => run("--resume", second, "PROMPT-7"),
      "a rewind": () => run("--resume", second, "--resume-session-at", replyBefore("PROMPT-7"), "PROMPT-8 instead"),
    };
  },

  resume: (home, { program }, id, cwd, prompt) => home.run([program, ...FLAGS, "--resume", id, prompt], { cwd }),

  /** Puts an exported transcript where Claude Code looks for it. */
  place(home, text, id, cwd) {
    const folder = home.path(".claude", "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/${id}.jsonl`, text);
  },

  count: (home) => transcripts(home).map((file) => countTranscript(basename(file, ".jsonl"), jsonLines(file))),
};

const FLAGS = ["-p", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"];

const transcripts = (home) => filesBelow(home.path(".claude", "projects"), ".jsonl").filter((file) => !file.includes("subagents"));

const transcript = (home, id) => transcripts(home).find((file) => file.endsWith(`${id}.jsonl`));

const WRITTEN_BY_PROGRAM = /^(<local-command|<command-name|\[Request interrupted|This session is being continued)/;

/** A record that stands twice counts once; a reply is all records with one `message.id`, with the largest of their uses. */
function countTranscript(id, records) {
  const count = newCount(id);
  const replies = new Map();
  const known = new Map(
    records.filter(({ uuid, isSidechain }) => uuid !== undefined && isSidechain !== true).map((record) => [record.uuid, record]),
  );
  for (const record of known.values()) {
    if (record.type === "assistant") addReply(replies, count, record.message);
    if (record.type === "user") addInput(count, record);
  }
  count.replies = [...replies.values()];
  return count;
}

function addInput(count, { message, isMeta, isCompactSummary }) {
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  const results = blocks.filter(({ type }) => type === "tool_result");
  count.results.push(...results.map((block) => ({ id: block.tool_use_id, text: textOf(block.content) })));
  const text = textOf(blocks);
  const isTyped = isMeta !== true && isCompactSummary !== true && !WRITTEN_BY_PROGRAM.test(text);
  if (isTyped && blocks.length > results.length) count.prompts.push(text);
}

function addReply(replies, count, { id, content, usage }) {
  const before = replies.get(id);
  const texts = content.filter(({ type }) => type === "text").map(({ text }) => text);
  const text = [...(before === undefined || before.text === "" ? [] : [before.text]), ...texts].join("\n");
  const {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead = 0,
    cache_creation_input_tokens: cacheWrite = 0,
  } = usage;
  // A compaction writes the replies that it keeps once more, with a use of 0.
  const isCopy = before !== undefined && output < before.usage.output;
  replies.set(id, { key: id, text, usage: isCopy ? before.usage : { input, output, cacheRead, cacheWrite } });
  count.calls.push(...content.filter(({ type }) => type === "tool_use").map((call) => call.id));
}

const textOf = (content) =>
  typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
