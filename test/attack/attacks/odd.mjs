// Values that JSON, SQL and Unicode treat in ways of their own, given to every write of the library: each is stored as it was given, or refused with a
// short error of Bough; what was accepted is no damage to `verify`.
import { isDeepStrictEqual } from "node:util";
import { openStore } from "@bough/session-core";
import { typed, violationsIn } from "../check-store.mjs";

const TEXTS = [
  "\ud800",
  "a\udc00b",
  "\u0000",
  "x\u0000y",
  "__proto__",
  "constructor",
  "",
  " ",
  "😀",
  "\uffff",
  "k".repeat(200),
  "k".repeat(201),
];
/** The longest message of an error that a person can read. */
const MOST_CHARS = 600;

export async function odd(attack) {
  while (attack.hasTime()) {
    const store = await openStore({ path: ":memory:" });
    const session = await store.createSession({ id: "s" });
    for (let at = 0; at < 60; at += 1) await attempt(attack, store, session, at);
    for (const finding of await violationsIn(store)) attack.finding(finding);
    attack.count("stores");
    await store.close();
  }
}

async function attempt(attack, store, session, at) {
  const { random } = attack;
  const [text, value] = [random.pick(TEXTS), oddValue(random, 0)];
  const works = {
    value: async () => {
      await session.values.set(text, value);
      const stored = await session.values.get(text);
      const [found] = (await session.values.list()).filter(({ key }) => key === text);
      if (value !== undefined && (found === undefined || !isDeepStrictEqual(stored, plain(value))))
        attack.finding(`the value of ${JSON.stringify(text)} came back as ${show(stored)}, not ${show(value)}`);
    },
    metadata: () => store.setMetadata("s", { [text]: value }),
    session: () => store.createSession({ id: `s${at}`, metadata: { m: value }, title: text }),
    label: async () => {
      const { id } = await session.append({ type: "message", message: { role: "user", content: "x" } });
      await session.labels.set(id, text);
    },
    entry: () =>
      session.append({ type: "message", message: { role: "assistant", content: [{ type: "foreign", originalType: text, raw: value }] } }),
    custom: () => session.append({ type: "custom", customType: text, data: value }),
    member: () => session.append({ type: "message", message: { role: "user", content: "x", [text]: value } }),
  };
  const [name, work] = random.pick(Object.entries(works));
  await typed(attack, `${name} ${show(text)} ${show(value)}`, async () => {
    try {
      await work();
    } catch (error) {
      if (String(error?.message).length > MOST_CHARS)
        attack.finding(`${name}: an error of ${error.message.length} characters: ${error.message.slice(0, 200)}`);
      throw error;
    }
  });
  attack.count("writes");
}

function oddValue(random, depth) {
  const leaf = [undefined, null, Number.NaN, -0, 1e308, 2n, Symbol("s"), () => 1, new Date(0), "\ud800", "\u0000", new Map(), true];
  if (depth === 0 && random.chance(0.1)) return nested(random.pick([100, 400, 600, 5_000]));
  if (depth > 2 || random.chance(0.5)) return random.pick(leaf);
  const inner = () => oddValue(random, depth + 1);
  return random.chance(0.5) ? [inner(), inner()] : { [random.pick(TEXTS)]: inner(), b: inner() };
}

function nested(depth) {
  let value = 1;
  for (let n = 0; n < depth; n += 1) value = [value];
  return value;
}

/** The value as JSON has it. */
function plain(value) {
  return JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? String(member) : member)) ?? "null");
}

function show(value) {
  try {
    return String(JSON.stringify(value)).slice(0, 80);
  } catch {
    return "(no JSON)";
  }
}
