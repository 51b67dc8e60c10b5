// Sessions of a coding agent as they are: questions, replies that call tools, outputs, branches given up, compactions.
import { Random } from "./random.mjs";
import { code, path, prose } from "./words.mjs";

/** How many entries a compaction keeps, and how many follow the last one: the same window for each size. */
export const KEPT = 50;

const BRANCH_EVERY_TURNS = 25;
const COMPACTION_EVERY_ENTRIES = 500;
const MS_PER_ENTRY = 7000;

const user = (random) => ({ role: "user", content: [{ type: "text", text: prose(random, random.size(40, 900)) }] });

function call(random) {
  const kind = random.next();
  const args =
    kind < 0.4
      ? { path: path(random), offset: 1, limit: 200 }
      : kind < 0.65
        ? { path: path(random), edits: [{ oldText: code(random, random.size(60, 700)), newText: code(random, random.size(60, 900)) }] }
        : { command: `cd /home/dev/project && npm test -- ${path(random)} 2>&1 | tail -40` };
  return { type: "toolCall", id: `toolu_${random.id(24)}`, name: kind < 0.4 ? "read" : kind < 0.65 ? "edit" : "bash", arguments: args };
}

function assistant(random, calls) {
  const input = random.whole(3, 9000);
  const output = random.whole(20, 1500);
  const usage = {
    input,
    output,
    cacheRead: random.whole(2000, 120000),
    cacheWrite: input,
    totalTokens: input + output,
    cost: { total: output / 1e5 },
  };
  const text = { type: "text", text: prose(random, calls.length === 0 ? random.size(80, 1500) : random.size(30, 300)) };
  const head = { provider: "anthropic", model: "claude-sonnet-4-5", stopReason: calls.length === 0 ? "stop" : "toolUse" };
  return { role: "assistant", content: [text, ...calls], ...head, usage };
}

function toolResult(random, { id, name }) {
  const text = code(random, name === "edit" ? random.size(60, 400) : random.size(200, 8000));
  return { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError: random.chance(0.04) };
}

/** The messages of one turn: a question, some rounds of calls with their results, an answer. */
export function* turn(random) {
  yield user(random);
  for (let round = random.whole(1, 6); round > 0; round--) {
    const calls = Array.from({ length: random.pick([1, 1, 1, 1, 2, 3]) }, () => call(random));
    yield assistant(random, calls);
    for (const one of calls) yield toolResult(random, one);
  }
  yield assistant(random, []);
}

/** Turns without end, message by message: a mix of every kind. */
export function* messages(seed) {
  for (const random = new Random(seed); ; ) yield* turn(random);
}

/** The writes of one session; each entry has its id, so that later writes can refer to it. */
class Script {
  #random;
  #path = [];
  #count = 0;
  #turns = 0;
  #compacted = 0;
  #startMs = 0;

  constructor(random) {
    this.#random = random;
  }

  *run(count) {
    // The last entry arrives now: the session is in use, so that its newest payloads stay rows.
    this.#startMs = Date.now() - count * MS_PER_ENTRY;
    yield this.#entry({ type: "message", message: { role: "system", content: prose(this.#random, 2000) } });
    yield this.#entry({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
    // Two windows' worth is left for the end, which is the same in every session, so that every size has one window.
    while (this.#count < count - 2 * KEPT - 1) yield* this.#work(count - 2 * KEPT - 1);
    this.#random = new Random(4711);
    yield* this.#until(count - KEPT - 1);
    if (count > 3 * KEPT) yield this.#compaction();
    yield* this.#until(count);
  }

  *#work(end) {
    const before = this.#path.length;
    yield* this.#turn(end);
    this.#turns += 1;
    if (this.#turns % BRANCH_EVERY_TURNS === 0 && before > 0) yield this.#back(before);
    else if (this.#count - this.#compacted >= COMPACTION_EVERY_ENTRIES && this.#count < end) yield this.#compaction();
  }

  *#until(end) {
    while (this.#count < end) yield* this.#turn(end);
  }

  *#turn(end) {
    for (const message of turn(this.#random)) {
      if (this.#count >= end) return;
      yield this.#entry({ type: "message", message });
    }
  }

  #entry(payload) {
    const id = this.#random.id(12) + this.#count.toString(36);
    this.#count += 1;
    this.#path.push(id);
    return { kind: "entry", entry: { ...payload, id, createdAtMs: this.#startMs + this.#count * MS_PER_ENTRY } };
  }

  /** The branch of the last turn is given up. */
  #back(length) {
    this.#path.length = length;
    return { kind: "moveLeaf", to: this.#path.at(-1) };
  }

  #compaction() {
    this.#compacted = this.#count;
    const details = { readFiles: [path(this.#random), path(this.#random)], modifiedFiles: [path(this.#random)] };
    const figures = { tokensBefore: 160000, tokensAfter: 21000, trigger: "threshold", details };
    return this.#entry({
      type: "compaction",
      summary: prose(this.#random, 3000),
      firstKeptEntryId: this.#path.at(-KEPT) ?? null,
      ...figures,
    });
  }
}

/** The writes of a session of `count` entries, for `Session.write`. */
export function sessionWrites(seed, count) {
  return new Script(new Random(seed)).run(count);
}
