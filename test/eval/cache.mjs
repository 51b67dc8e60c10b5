// npm run eval -- --cache: what compaction costs in prompt caches. A seeded session of an agent is played request by request; each
// request is compared with the one before it. A provider reads what is common for a tenth of the price of input, and writes the rest
// for five quarters.
import { createCompactor } from "@bough/compaction";
import { fromAnthropic, openStore, toAnthropic, toolResult, userMessage } from "@bough/session-core";

const READ_PRICE = 0.1;
const WRITE_PRICE = 1.25;

/** The sessions: sizes of tool output in characters; `thinks`: each reply has a signed block; pauses and branches after some turns. */
const KINDS = {
  agent: { turns: 60, least: 1000, most: 13_000, thinks: true, pauses: 0, branches: 0 },
  plain: { turns: 60, least: 1000, most: 13_000, thinks: false, pauses: 0, branches: 0 },
  "small outputs": { turns: 60, least: 200, most: 1500, thinks: true, pauses: 0, branches: 0 },
  "pauses and branches": { turns: 60, least: 1000, most: 13_000, thinks: true, pauses: 10, branches: 15 },
};

const MODEL = "claude-fable-5-1";
const CHARS_PER_TOKEN = 4;

/** Random numbers from 0 up to 1 that are the same in every run. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Compares each request with the one before it. Counts are characters. */
class Bill {
  #previous = "";
  #made = new Map();
  row = { requests: 0, sent: 0, common: 0, cost: 0, changes: 0, output: 0, signed: 0, stale: 0 };

  add(messages, isCold) {
    const whole = messages.map((message) => JSON.stringify(message)).join("");
    const same = commonLength(whole, this.#previous);
    const read = isCold ? 0 : same;
    this.row.requests += 1;
    this.row.sent += whole.length;
    this.row.common += read;
    this.row.cost += READ_PRICE * read + WRITE_PRICE * (whole.length - read);
    if (same < this.#previous.length - 1) this.row.changes += 1;
    this.#previous = whole;
    this.#countBlocks(messages);
    return whole;
  }

  /** The reply to the last request has a block with this signature. */
  produced(signature, sent) {
    this.#made.set(signature, sent);
  }

  #countBlocks(messages) {
    let before = "";
    for (const message of messages) {
      for (const block of message.content) {
        if (block.type === "tool_result") {
          const size = JSON.stringify(block.content).length;
          if (size > 200) this.row.output += size;
        }
        if (block.type !== "thinking") continue;
        this.row.signed += 1;
        if (this.#made.get(block.signature) !== before) this.row.stale += 1;
      }
      before += JSON.stringify(message);
    }
  }
}

function commonLength(a, b) {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  return same;
}

/** Plays one session with these settings in a window, and returns what it cost, in tokens. */
export async function playSession({ settings, window, kind = "agent", seed = 7 }) {
  const { turns, least, most, thinks, pauses, branches } = KINDS[kind];
  const random = seeded(seed);
  const store = await openStore({ path: ":memory:" });
  const session = await store.createSession({});
  const compactor = createCompactor({
    session,
    contextWindow: window,
    settings,
    model: { provider: "anthropic", modelId: MODEL },
    random: () => 0.5,
  });
  const bill = new Bill();
  let n = 0;
  const text = (size) => {
    let said = "";
    while (said.length < size)
      said += `${["const", "let", "return", "export", "if"][Math.floor(random() * 5)]} value${Math.floor(random() * 1e6)} = read(${Math.floor(random() * 1e4)});\n`;
    return said.slice(0, size);
  };
  const round = async (isCold, isLast) => {
    const { context } = await compactor.prepareRequest({ cacheIsCold: isCold });
    const sent = bill.add(toAnthropic(context).messages, isCold);
    const signature = `S${n++}`;
    bill.produced(signature, sent);
    const thinking = { type: "thinking", thinking: text(120), signature };
    const id = `t${n}`;
    const call = { type: "tool_use", id, name: ["read", "bash", "grep"][n % 3], input: { path: `src/file${n}.ts` } };
    const usage = { input_tokens: Math.round(sent.length / CHARS_PER_TOKEN), output_tokens: isLast ? 200 : 100 };
    const content = [...(thinks ? [thinking] : []), isLast ? { type: "text", text: text(400) } : call];
    await session.append(fromAnthropic({ id: `m${n}`, model: MODEL, stop_reason: isLast ? "end_turn" : "tool_use", usage, content }));
    if (!isLast) await session.append(toolResult(id, text(least + Math.floor(random() * (most - least)))));
  };
  for (let turn = 0; turn < turns; turn += 1) {
    let isCold = pauses > 0 && turn > 0 && turn % Math.floor(turns / pauses) === 0;
    await session.append(userMessage(`Please change module ${turn}. ${text(250)}`));
    const turnId = session.leafId;
    const calls = 3 + Math.floor(random() * 5);
    for (let call = 0; call <= calls; call += 1) {
      await round(isCold, call === calls);
      isCold = false;
    }
    // The turn is tried again from its prompt.
    if (branches > 0 && turn % Math.floor(turns / branches) === 1) {
      await session.moveLeaf(turnId);
      await round(false, true);
    }
  }
  const compactions = (await session.list({ types: ["compaction"], limit: 10_000 })).length;
  await compactor.close();
  await store.close();
  return { ...tokensOf(bill.row), compactions };
}

function tokensOf({ requests, changes, stale, signed, sent, common, cost, output }) {
  const million = CHARS_PER_TOKEN * 1e6;
  return {
    requests,
    changes,
    stale,
    signed,
    input: sent / million,
    cached: common / sent,
    cost: cost / million,
    kept: output / requests / CHARS_PER_TOKEN / 1000,
  };
}

const WINDOWS = [200_000, 100_000, 32_000];

/** Two policies that the table compares with the presets. */
const POLICIES = {
  "prune a little at each request": {
    prune: { when: "early", lowWaterShare: 0.93, lowWaterTokens: 10_000_000, minSavingsTokens: 0, minSavingsShare: 0 },
  },
  "never prune, only compact": { prune: { enabled: false } },
};

/** The shares of the window between which the calculation prunes. */
const FRONTIER = [
  [0.8, 0.6],
  [0.8, 0.4],
  [0.8, 0.2],
];

/** Prunes outputs, oldest first, if all is above `high`, down to `low`. `common`: what stands before the first pruned one. */
function pruneSizes(sizes, high, low) {
  let total = sizes.reduce((sum, { size }) => sum + size, 0);
  if (total <= high) return { total };
  let common;
  let at = 0;
  for (const one of sizes) {
    if (total <= low) break;
    if (one.output && one.size > 90) {
      common ??= at;
      total -= one.size - 90;
      one.size = 90;
    }
    at += one.size;
  }
  return { total, common };
}

/**
 * The cost of a policy that prunes from one size down to another and does nothing else, calculated from sizes alone: 90 characters stay
 * of an output. The sizes are those of the session kind `plain`.
 */
function calculate(window, [high, low], seed = 7) {
  const random = seeded(seed);
  const budget = window * CHARS_PER_TOKEN;
  const sizes = [];
  const row = { requests: 0, sent: 0, common: 0, cost: 0, changes: 0, output: 0, signed: 0, stale: 0 };
  let before = 0;
  for (let turn = 0; turn < KINDS.plain.turns; turn += 1) {
    sizes.push({ size: 340, output: false });
    const calls = 3 + Math.floor(random() * 5);
    for (let call = 0; call <= calls; call += 1) {
      const { total, common = before } = pruneSizes(sizes, high * budget, low * budget);
      if (common < before) row.changes += 1;
      row.requests += 1;
      row.sent += total;
      row.common += common;
      row.cost += READ_PRICE * common + WRITE_PRICE * (total - common);
      row.output += sizes.reduce((sum, { size, output }) => sum + (output && size > 90 ? size : 0), 0);
      before = total;
      if (call === calls) sizes.push({ size: 480, output: false });
      else
        sizes.push(
          { size: 150, output: false },
          { size: KINDS.plain.least + Math.floor(random() * (KINDS.plain.most - KINDS.plain.least)), output: true },
        );
    }
  }
  return { ...tokensOf(row), compactions: 0 };
}

const HEADINGS = ["policy", "window", "cost", "cached", "changes", "compactions", "tool output kept", "stale blocks sent"];

function line(name, window, { cost, cached, changes, compactions, kept, stale }) {
  const cells = [
    name,
    window.toLocaleString("en-US"),
    cost.toFixed(2),
    `${(100 * cached).toFixed(0)} %`,
    changes,
    compactions,
    `${kept.toFixed(0)}k`,
    stale,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The tables, in Markdown. `say` hears what is played. */
export async function cacheTables(presets, say) {
  const head = [`| ${HEADINGS.join(" | ")} |`, `|---|${"--:|".repeat(HEADINGS.length - 1)}`];
  const rows = [];
  for (const window of WINDOWS) {
    const policies = [...presets.map((preset) => [preset, { preset }]), ...Object.entries(POLICIES)];
    for (const [name, settings] of policies) {
      say(`${name}, ${window}`);
      rows.push(line(name, window, await playSession({ window, settings })));
    }
    for (const shares of FRONTIER)
      rows.push(line(`calculation: from ${shares[0]} to ${shares[1]} of the window`, window, calculate(window, shares)));
  }
  const others = [];
  for (const kind of Object.keys(KINDS).slice(1))
    for (const window of WINDOWS) {
      say(`${kind}, ${window}`);
      others.push(line(`balanced: ${kind}`, window, await playSession({ window, kind, settings: {} })));
    }
  return [[...head, ...rows].join("\n"), [...head, ...others].join("\n")];
}
