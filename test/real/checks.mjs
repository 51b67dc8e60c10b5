// What must hold for the sessions that an agent wrote. Each check returns the sentences that say what does not; none: it holds.
import { isDeepStrictEqual } from "node:util";
import { addUsage, countStored, NO_USAGE } from "./count.mjs";
import { FILE_TEXT } from "./home.mjs";

/** The most findings of one check that are printed; more are counted. */
const MOST = 6;

/** Compares the agent's own sessions, counted from their bytes, with the entries of a store. */
export function countsEqual(raw, stored) {
  const found = [];
  const byId = new Map(stored.map((session) => [session.id, countStored(session)]));
  for (const expected of raw) {
    const actual = byId.get(expected.id);
    if (actual === undefined) {
      found.push(`session ${expected.id} is not in the store`);
      continue;
    }
    found.push(...differences(expected, actual).map((text) => `session ${expected.id}: ${text}`));
  }
  for (const { id } of stored)
    if (!raw.some((session) => session.id === id)) found.push(`the store has a session ${id} that the agent has not`);
  return shortened(found);
}

function differences(expected, actual) {
  const usage = (count) => count.replies.map((reply) => reply.usage).reduce(addUsage, NO_USAGE);
  const facts = (count) => ({
    prompts: count.prompts.toSorted(),
    replies: count.replies
      .map(({ text }) => text)
      .filter(isReply)
      .toSorted(),
    calls: count.calls.toSorted(),
    results: count.results.map(({ id, text }) => `${id}: ${text}`).toSorted(),
    tokens: Object.entries(usage(count)).map(([kind, tokens]) => `${kind} ${tokens}`),
  });
  const [left, right] = [facts(expected), facts(actual)];
  return Object.keys(left).flatMap((fact) => listDifference(fact, left[fact], right[fact]));
}

/** The text of a summary is a reply in some agents and in others a part of the compaction alone. Replies with calls alone have no text. */
const isReply = (text) => text !== "" && !text.includes("The summary is");

function listDifference(name, expected, actual) {
  if (isDeepStrictEqual(expected, actual)) return [];
  const missing = without(expected, actual);
  const more = without(actual, expected);
  const parts = [
    ...(missing.length > 0 ? [`missing ${missing.length}: ${quoted(missing)}`] : []),
    ...(more.length > 0 ? [`too many ${more.length}: ${quoted(more)}`] : []),
  ];
  return [`${name}: ${expected.length} in the file, ${actual.length} in the store; ${parts.join("; ")}`];
}

/** The members of a list that another list does not have, each as often as it has too few. */
function without(list, other) {
  const rest = [...other];
  return list.filter((item) => {
    const at = rest.indexOf(item);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

const quoted = (texts) =>
  texts
    .slice(0, 3)
    .map((text) => JSON.stringify(text.slice(0, 80)))
    .join(", ");

/** Compares two stores: sessions, entries with their parents, leaves, labels and values. */
export function storesEqual(left, right, names) {
  const found = [];
  const ids = new Set([...left, ...right].map(({ id }) => id));
  for (const id of ids) {
    const [one, two] = [left, right].map((sessions) => sessions.find((session) => session.id === id));
    if (one === undefined || two === undefined) found.push(`session ${id} is only in the ${one === undefined ? names[1] : names[0]} store`);
    else found.push(...sessionDifferences(one, two, names).map((text) => `session ${id}: ${text}`));
  }
  return shortened(found);
}

function sessionDifferences(one, two, names) {
  const found = [];
  for (const [member, value] of Object.entries(one.header))
    if (!isDeepStrictEqual(value, two.header[member]))
      found.push(
        `${member} is ${JSON.stringify(value)} in the ${names[0]} store, ${JSON.stringify(two.header[member])} in the ${names[1]} store`,
      );
  const only = (left, right) => [...left.entries.values()].filter(({ id }) => !right.entries.has(id));
  for (const [entries, name] of [
    [only(one, two), names[0]],
    [only(two, one), names[1]],
  ])
    if (entries.length > 0)
      found.push(`${entries.length} entries only in the ${name} store: ${entries.slice(0, 4).map(describe).join("; ")}`);
  const other = [...one.entries.values()].filter((line) => two.entries.has(line.id) && !isDeepStrictEqual(line, two.entries.get(line.id)));
  if (other.length > 0)
    found.push(
      `${other.length} entries differ: ${other
        .slice(0, 3)
        .map((line) => whereDifferent(line, two.entries.get(line.id)))
        .join("; ")}`,
    );
  if (!isDeepStrictEqual(one.others, two.others))
    found.push(`leaf, labels or values: ${JSON.stringify(one.others).slice(0, 200)} and ${JSON.stringify(two.others).slice(0, 200)}`);
  return found;
}

const describe = ({ id, entry }) =>
  `${id} ${entry.message?.role ?? entry.originalType ?? entry.type} ${JSON.stringify(entry.message?.content ?? "").slice(0, 60)}`;

function whereDifferent(left, right) {
  const member = ["parentId", "createdAtMs", "entry"].find((name) => !isDeepStrictEqual(left[name], right[name])) ?? "a member";
  const part = (line) =>
    JSON.stringify(member === "entry" ? differingPart(line.entry, line === left ? right.entry : left.entry) : line[member]);
  return `${describe(left)}: ${member} ${part(left)?.slice(0, 120)} and ${part(right)?.slice(0, 120)}`;
}

/** The innermost object member in which a value differs from another one. */
function differingPart(value, other) {
  if (value === null || other === null || typeof value !== "object" || typeof other !== "object") return value;
  const names = [...new Set([...Object.keys(value), ...Object.keys(other)])].filter((name) => !isDeepStrictEqual(value[name], other[name]));
  return names.length === 1 ? { [names[0]]: differingPart(value[names[0]], other[names[0]]) } : value;
}

/** The tokens of every request once, however many files have a copy of it. */
export function usageOnce(raw) {
  return requestsOf(raw)
    .map(({ usage }) => usage)
    .reduce(addUsage, NO_USAGE);
}

/** The requests of all sessions, each once. Copies may have a use of 0; the largest one counts. */
function requestsOf(raw) {
  const requests = new Map();
  for (const reply of raw.flatMap(({ replies }) => replies)) {
    const known = requests.get(reply.key);
    if ((known?.usage?.output ?? -1) < (reply.usage?.output ?? 0)) requests.set(reply.key, reply);
  }
  return [...requests.values()];
}

/** Compares the total of a store (`bough stats --json`) with the tokens of every request once. */
export function totalEquals(expected, { usage }) {
  const total = usage
    .map((row) => ({ input: row.inputTokens, output: row.outputTokens, cacheRead: row.cacheReadTokens, cacheWrite: row.cacheWriteTokens }))
    .reduce(addUsage, NO_USAGE);
  return isDeepStrictEqual(expected, total)
    ? []
    : [`the store's total is ${JSON.stringify(total)}, all requests once are ${JSON.stringify(expected)}`];
}

/** Compares the usage that an agent wrote with what the server reported: also the count of the bytes may be wrong. */
export function usageAsReported(raw, exchanges, { reportsCacheWrites, reports = (usage) => usage }) {
  const found = [];
  const replies = requestsOf(raw).filter(({ text }) => text !== "");
  for (const { reply } of exchanges)
    for (const { text, usage } of replies.filter((one) => one.text.includes(reply.marker))) {
      const expected = reports({ ...reply.usage, ...(reportsCacheWrites ? {} : { cacheWrite: 0 }) });
      if (usage !== null && !isDeepStrictEqual({ ...usage }, expected))
        found.push(`"${text.slice(0, 40)}" has ${JSON.stringify(usage)}, the server reported ${JSON.stringify(expected)}`);
    }
  const kept = exchanges.filter(({ reply }) => replies.some(({ text }) => text.includes(reply.marker))).length;
  if (kept === 0) found.push("no reply of the server is in the agent's files");
  return shortened([...new Set(found)]);
}

/**
 * Compares a context with the request that got the last reply of the session, by the prompts and replies of the scenario: the same ones, in the
 * same order, and that reply at the end. Then each text of the context must have been sent, and the text of the mentioned file be in the context.
 *
 * `renews`: a text that the agent makes anew at each start. `storesMentions: false`: the agent does not store what it sent for a mentioned file.
 */
export function contextAsSent(context, { replies }, exchanges, { renews, storesMentions = true }) {
  const last = replies.flatMap(({ text }) => (isReply(text) ? markersOf([text]) : [])).at(-1);
  const exchange = exchanges.find(({ reply }) => reply.marker === last);
  if (exchange === undefined) return ["no reply of the server is in the agent's file"];
  const expected = [...markersOf(exchange.strings), last];
  const actual = markersOf(context.messages.map((message) => textsOf(message).join("\n")));
  if (!isDeepStrictEqual(actual, expected)) return [`the agent sent, and got, ${expected.join(" ")}; the context has ${actual.join(" ")}`];
  const isSent = exchange.strings.some((text) => text.includes(FILE_TEXT));
  if (isSent && storesMentions && !JSON.stringify(context.messages).includes(FILE_TEXT))
    return ["the agent sent the mentioned file; the context does not have it"];
  const messages = context.messages.filter((message) => renews === undefined || !textsOf(message).some((text) => renews.test(text)));
  return notSent({ messages }, { strings: [...exchange.strings, ...textsOf(context.messages.at(-1))] });
}

/** The prompts and replies that texts name, each at its first place. */
function markersOf(texts) {
  return [...new Set(texts.flatMap((text) => text.match(/PROMPT-\d+|reply\d{4}x/g) ?? []))];
}

/** The texts of a context that a request does not have, each as a whole. */
export function notSent(context, exchange) {
  const sent = exchange.strings.map(plain);
  const wanted = context.messages
    .flatMap(textsOf)
    .map(plain)
    .filter((text) => text !== "");
  const missing = wanted.filter((text) => !sent.some((one) => one.includes(text)));
  return missing.length === 0 ? [] : [`${missing.length} of ${wanted.length} texts were not sent: ${quoted(missing)}`];
}

const plain = (text) => text.replaceAll("\r\n", "\n").trim();

function textsOf(message) {
  if (message.role === "compactionSummary" || message.role === "branchSummary") return [message.summary];
  if (message.role === "bashExecution") return [message.output];
  if (typeof message.content === "string") return [message.content];
  return (message.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
}

function shortened(found) {
  return found.length <= MOST ? found : [...found.slice(0, MOST), `and ${found.length - MOST} more`];
}
