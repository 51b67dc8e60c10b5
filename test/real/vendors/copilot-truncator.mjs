// The truncator of Copilot CLI, cut out of its bundle, against `fitRequest` with the preset `copilot-cli`: random requests must keep the same
// messages. Version 1.0.40 is the last one that is JavaScript. Its licence allows to run it, not to copy it, so it is fetched.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSettings } from "@bough/compaction";
import { fitRequest } from "@bough/compaction/planning";
import { randomOf } from "../../attack/random.mjs";
import { install } from "../install.mjs";

const REQUESTS = 2000;
const LIMIT = 10_000;

export const copilotTruncator = {
  name: "copilot-truncator",
  title: "Copilot CLI's truncator",

  async run(seed) {
    const installed = install("copilot-1.0.40", ["@github/copilot@1.0.40"]);
    const truncate = truncatorOf(readFileSync(join(installed.root, "app.js"), "utf8"));
    const random = randomOf(seed);
    const counts = { same: 0, newestReply: 0, tooLong: 0 };
    const findings = [];
    for (let at = 0; at < REQUESTS; at += 1) {
      const request = randomRequest(random);
      const [theirs, ours] = [truncate(request), keptByBough(request)];
      const more = ours.filter((index) => !theirs.includes(index));
      if (theirs.join() === ours.join()) counts.same += 1;
      // Copilot CLI sends a request that is still too long; Bough cuts what is left.
      else if (theirs.reduce((sum, index) => sum + request[index].tokens, 0) > LIMIT) counts.tooLong += 1;
      else if (more.length > 0 && more.every((index) => index >= newestReply(request))) counts.newestReply += 1;
      else
        findings.push(`request ${at} of seed ${seed}: Copilot keeps ${theirs.join(" ")}, Bough ${ours.join(" ")} of ${describe(request)}`);
    }
    const result = `${counts.same} of ${REQUESTS} requests the same, ${counts.newestReply} with the newest reply, which Bough keeps, ${counts.tooLong} that Copilot CLI leaves too long`;
    return { version: installed.version, result, findings: findings.slice(0, 5) };
  },
};

/** Protected tools of Copilot CLI: replies that call them stay longest. */
const PROTECTED = "report_intent";

const between = (random, least, most) => least + random.below(most - least + 1);

/** A request: a system message, then turns. Each message has its tokens and its place. */
function randomRequest(random) {
  const messages = [{ role: "system", tokens: between(random, 100, 800) }];
  for (let turn = between(random, 1, 6); turn > 0; turn -= 1) {
    messages.push({ role: "user", tokens: between(random, 10, 900) });
    for (let rounds = between(random, 0, 5); rounds > 0; rounds -= 1) {
      const name = between(random, 0, 9) === 0 ? PROTECTED : "bash";
      const calls = Array.from({ length: between(random, 0, 3) }, (_none, at) => ({ id: `call-${messages.length}-${at}`, name }));
      messages.push({ role: "assistant", tokens: between(random, 10, 900), calls });
      for (const { id } of calls) messages.push({ role: "tool", tokens: between(random, 10, 1500), id });
    }
  }
  return messages;
}

const newestReply = (request) => request.findLastIndex(({ role }) => role === "assistant");

const describe = (request) =>
  request.map(({ role, tokens, calls }) => `${role[0]}${tokens}${calls?.[0]?.name === PROTECTED ? "!" : ""}`).join(" ");

/** The places of the messages that the truncator keeps: its two functions, in the order in which its processor calls them. */
function truncatorOf(bundle) {
  const start = "\\{let s=t\\.length;if\\(s===0\\)return\\{tokenLimit:n,";
  const sources = [...bundle.matchAll(new RegExp(`function (\\w+)\\(t,e,r,n,o\\)${start}`, "g"))].map(({ index, 1: name }) => ({
    name,
    source: functionAt(bundle, index),
  }));
  if (sources.length !== 2) throw new Error(`The bundle has ${sources.length} functions that look like the truncator's; expected 2.`);
  const [{ name: keepsPrompts, source }, { name: dropsPrompts }] = sources;
  const named = (pattern) => pattern.exec(source)?.slice(1) ?? [];
  const [countMessage, countTools, share] = named(/t\.map\(h=>(\w+)\(h,r\)\),l=(\w+)\(e,r\),c=n\*(\w+)/);
  const [isFunction, protectedNames, nameOf] = named(/filter\((\w+)\)\.filter\(S=>(\w+)\.has\((\w+)\(S\)\)\)/);
  const parameters = [countMessage, countTools, share, isFunction, protectedNames, nameOf];
  const make = new Function(
    ...parameters,
    `${sources.map((one) => one.source).join("\n")}; return { keepsPrompts: ${keepsPrompts}, dropsPrompts: ${dropsPrompts} };`,
  );
  const passes = make(
    (message) => message.tokens,
    () => 0,
    0.95,
    () => true,
    new Set([PROTECTED]),
    (call) => call.name,
  );
  return (request) => {
    const messages = request.map((message, at) => ({
      ...message,
      at,
      ...(message.role === "tool" ? { tool_call_id: message.id } : {}),
      ...(message.calls === undefined ? {} : { tool_calls: message.calls }),
    }));
    const newest = () => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      return at === -1 ? undefined : at;
    };
    const total = () => messages.reduce((sum, { tokens }) => sum + tokens, 0);
    const steps = [
      () => passes.keepsPrompts(messages, [], "", LIMIT, newest()),
      () => passes.dropsPrompts(messages, [], "", LIMIT, newest()),
      () => passes.keepsPrompts(messages, [], "", LIMIT, undefined),
    ];
    for (const step of steps) if (total() > LIMIT) step();
    return messages.map(({ at }) => at);
  };
}

function functionAt(text, start) {
  let depth = 0;
  for (let at = text.indexOf("{", start); ; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
}

function keptByBough(request) {
  const [system, ...rest] = request;
  const messages = rest.map(toMessage);
  const fitted = fitRequest({
    messages,
    entries: rest.map((_message, at) => String(at + 1)),
    tokens: rest.map(({ tokens }) => tokens),
    // Bough cuts outputs if nothing else is left to drop, and counts what is left of them.
    count: (message) => (message.role === "toolResult" ? message.content[0].text.length : rest[messages.indexOf(message)].tokens),
    limitTokens: LIMIT,
    systemTokens: system.tokens,
    settings: readSettings({ preset: "copilot-cli" }).request,
    windowTokens: LIMIT,
    model: null,
  });
  return [0, ...fitted.entries.map(Number)];
}

/** The message of a request. An output has a character for each of its tokens. */
function toMessage({ role, tokens, calls = [], id }, at) {
  if (role === "user") return { role, content: `prompt ${at}` };
  if (role === "tool")
    return { role: "toolResult", toolCallId: id, toolName: "bash", content: [{ type: "text", text: "o".repeat(tokens) }], isError: false };
  return { role, content: [{ type: "text", text: `reply ${at}` }, ...calls.map((call) => ({ type: "toolCall", ...call, arguments: {} }))] };
}
