// pi's own functions against ours: random sessions written by pi's SessionManager are imported; the context must be the one that pi builds, and the
// cut of a compaction with the preset `pi` the one that pi chooses, with pi's count of tokens in both.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readSettings } from "@bough/compaction";
import { keepRuleOf, planCompaction } from "@bough/compaction/planning";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { randomOf } from "../../attack/random.mjs";
import { install } from "../install.mjs";

const SESSIONS = 120;
const WINDOW_TOKENS = 200_000;

export const piPlanner = {
  name: "pi-planner",
  title: "pi's planner",

  async run(seed) {
    const installed = install("pi-0.73", ["@mariozechner/pi-coding-agent@0.73.1"]);
    const core = (file) => import(pathToFileURL(join(installed.root, "dist/core", file)).href);
    const pi = { ...(await core("session-manager.js")), ...(await core("compaction/compaction.js")) };
    const random = randomOf(seed);
    const folder = mkdtempSync(join(tmpdir(), "bough-real-pi-"));
    const store = await openStore({ path: ":memory:" });
    const counts = { context: 0, cut: 0, split: 0, onlyOurs: 0, beside: 0 };
    const findings = [];
    for (let at = 0; at < SESSIONS; at += 1) {
      const manager = randomSession(pi, folder, random);
      const { sessions } = await importPath(store, manager.getSessionFile());
      const session = await store.openSession(sessions[0].sessionId);
      const context = await session.context();
      const difference = contextDifference(manager.buildSessionContext().messages, context.messages);
      if (difference === undefined) counts.context += 1;
      else findings.push(`session ${at} of seed ${seed}: context: ${difference}`);
      const path = await session.path();
      const [theirs, ours] = [theirCut(pi, manager), ourCut(pi, context, path)];
      if (theirs.isSplit === ours.isSplit) counts.split += 1;
      if (theirs.first === ours.first) counts.cut += 1;
      else if (theirs.first === null) counts.onlyOurs += 1;
      else if (isBeside(path, theirs.first, ours.first)) counts.beside += 1;
      else findings.push(`session ${at} of seed ${seed}: pi keeps from ${theirs.first}, Bough from ${ours.first}`);
    }
    await store.close();
    rmSync(folder, { recursive: true });
    const result = `of ${SESSIONS} sessions: context ${counts.context}, cut ${counts.cut}, split ${counts.split} the same; ${counts.beside} where pi also keeps the notes and settings before the cut; ${counts.onlyOurs} where pi finds nothing to summarize`;
    return { version: installed.version, result, findings: findings.slice(0, 6) };
  },
};

/** True if only commands, notes and settings are between the two cuts: pi 0.73 keeps them, pi 1.5 and Bough summarize them (docs/compaction.md). */
function isBeside(path, first, later) {
  const [from, to] = [first, later].map((wanted) => path.findIndex(({ id }) => id === wanted));
  const isOfTurn = ({ type, message }) => type === "message" && message.role !== "bashExecution";
  return from < to && !path.slice(from, to).some(isOfTurn);
}

/** A session with branches, compactions, summaries of branches, commands and messages of extensions, of 20,000 to 120,000 tokens. */
function randomSession(pi, folder, random) {
  const manager = pi.SessionManager.create("/home/ada/parser", folder);
  let now = 1_767_323_045_000;
  const append = (message) => {
    now += 1000;
    manager.appendMessage({ ...message, timestamp: now });
  };
  const words = (most) => "some words of a text ".repeat(1 + random.below(most));
  for (let turns = 4 + random.below(24); turns > 0; turns -= 1) {
    append({ role: "user", content: [{ type: "text", text: words(60) }] });
    for (let rounds = random.below(5); rounds > 0; rounds -= 1) appendRound(append, random, words);
    append(reply([{ type: "text", text: words(300) }], "stop"));
    appendOther(pi, manager, random, { append, words });
  }
  append({ role: "user", content: [{ type: "text", text: words(20) }] });
  append(reply([{ type: "text", text: words(40) }], "stop"));
  return manager;
}

function appendRound(append, random, words) {
  const calls = Array.from({ length: 1 + random.below(3) }, () => ({
    ...{ type: "toolCall", id: `call_${random.below(1e9)}`, name: random.pick(["read", "bash", "edit"]) },
    arguments: { path: `src/file-${random.below(20)}.ts` },
  }));
  append(reply([{ type: "text", text: words(20) }, ...calls], "toolUse"));
  for (const { id, name } of calls)
    append({
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text: words(400) }],
      isError: random.chance(0.1),
    });
}

function appendOther(pi, manager, random, { append, words }) {
  if (random.chance(0.1))
    append({ role: "bashExecution", command: "ls", output: words(50), exitCode: 0, cancelled: false, truncated: false });
  if (random.chance(0.1)) manager.appendCustomMessageEntry("note", words(20), true);
  if (random.chance(0.1)) manager.appendModelChange("local", `model-${random.below(3)}`);
  if (random.chance(0.12)) {
    const prepared = pi.prepareCompaction(manager.getBranch(), SETTINGS);
    if (prepared !== undefined) manager.appendCompaction(words(100), prepared.firstKeptEntryId, prepared.tokensBefore);
  }
  if (random.chance(0.12)) {
    const prompts = manager.getBranch().filter((entry) => entry.type === "message" && entry.message.role === "user");
    manager.branchWithSummary(random.pick(prompts.slice(-4)).id, words(40));
  }
}

const SETTINGS = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };

function reply(content, stopReason) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  return { role: "assistant", content, api: "openai-completions", provider: "local", model: "scripted", usage, stopReason };
}

function contextDifference(theirs, ours) {
  const [left, right] = [theirs, ours].map((messages) => messages.map((message) => `${message.role}: ${spoken(message)}`));
  const at = left.findIndex((text, index) => text !== right[index]);
  if (at === -1 && left.length === right.length) return undefined;
  return `${left.length} messages in pi, ${right.length} in Bough; message ${at}: ${left[at]?.slice(0, 60)} and ${right[at]?.slice(0, 60)}`;
}

function spoken({ content, summary, output }) {
  const text = summary ?? output ?? content;
  return typeof text === "string" ? text : text.map((block) => block.text ?? block.id).join("\n");
}

function theirCut(pi, manager) {
  const prepared = pi.prepareCompaction(manager.getBranch(), SETTINGS);
  if (prepared === undefined || prepared.messagesToSummarize.length + prepared.turnPrefixMessages.length === 0)
    return { first: null, isSplit: false };
  return { first: prepared.firstKeptEntryId, isSplit: prepared.isSplitTurn };
}

function ourCut(pi, { messages, entries, compaction }, path) {
  const settings = readSettings("pi");
  const start = compaction === null ? 0 : path.findIndex(({ id }) => id === compaction.payload.firstKeptEntryId);
  const items = path.slice(start).map(({ id, type }) => {
    const own = type === "compaction" ? [] : messages.filter((_message, at) => entries[at] === id);
    // pi 0.73 counts no tokens of notes and summaries.
    const counted = type === "message" ? own : [];
    return { id, type, messages: own, tokens: counted.reduce((sum, message) => sum + pi.estimateTokens(message), 0) };
  });
  const limitTokens = WINDOW_TOKENS - SETTINGS.reserveTokens;
  const keep = keepRuleOf(settings.keep, { limitTokens, mostKeptTokens: limitTokens, ratio: 1, trigger: "automatic" });
  const plan = planCompaction({ items, keep, minMessages: settings.trigger.minMessages, inForce: compaction?.entryId ?? null });
  return plan.kind === "nothing-to-compact"
    ? { first: null, isSplit: false }
    : { first: plan.firstKeptEntryId, isSplit: plan.kind === "split-turn" };
}
