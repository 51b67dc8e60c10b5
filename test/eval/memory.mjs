// What `bough hook` gives at a prompt: of prompts that refer to earlier work, how many get the passage; of those that do not, how many get any.
// The first are the questions about real sessions; the others are below, and are asked in the directory of each of these sessions. What the
// command decides with is taken from its source. The least score of a passage is judged where it was not chosen: the sessions and the other
// prompts are divided into two halves by a seed, the score is chosen on one half, and the figures are those of the other.
//   node test/eval/memory.mjs [--json] [--missed] [--scores] [--seed N]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { build } from "esbuild";
import { hasRealSession, REAL_SESSIONS, realSession } from "../../.ci/real-sessions.mjs";
import { REAL_QUESTIONS } from "./questions/real-sessions.mjs";
import { table } from "./table.mjs";

const FOLDERS = ["pi", "claude", "codex"];

/** Prompts of people that refer to nothing before. Written before the threshold was chosen. */
const OTHER_PROMPTS = [
  "Write a Python script that reads a CSV file and prints the average of the second column",
  "Add a health check endpoint to the server that returns the uptime",
  "hello",
  "Please commit everything and push it to origin",
  "Which port does PostgreSQL listen on by default?",
  "Create a Dockerfile with a multi stage build for this service",
  "Explain the difference between a mutex and a semaphore",
  "Set up GitHub Actions to publish the package on every tag",
  "Convert this callback based code to async and await",
  "What would be a good name for a class that retries requests?",
  "Implement pagination for the list of invoices with a cursor",
  "Why does my SQL query with a left join return duplicates?",
  "Write unit tests for the login form with an invalid password",
  "Upgrade webpack to the latest major version and fix what breaks",
  "Generate an OpenAPI description of the customer routes",
  "Remove all unused imports in the billing folder",
  "The payment webhook is called twice by Stripe, make it idempotent",
  "Translate the landing page into Italian",
  "How do I undo the last git rebase?",
  "Add rate limiting to the upload route, ten requests a minute",
  "Refactor the shopping cart so that discounts are applied last",
  "Make the navigation bar sticky on mobile phones",
  "Profile the startup and tell me what takes longest",
  "Write a migration that adds a nullable column birthday to customers",
  "Why is the Kubernetes pod restarting with exit code 137?",
  "Document the environment variables in the readme",
  "thanks, that works",
  "Replace moment with date-fns everywhere",
  "Draw a sequence diagram of the OAuth login in mermaid",
  "Sort the products by price and then by name",
  "Let the newsletter job run every Monday at six",
  "Find the memory leak in the image resizer",
  "Use a Redis cache for the exchange rates with an expiry of one hour",
  "Create an index on orders by customer and date",
  "Validate email addresses on the registration page",
  "Which licence should I choose for a small library?",
  "Rewrite the Makefile as npm scripts",
  "Please review the pull request 482 for security problems",
  "Add a confirmation dialog before an account is deleted",
  "Parse ISO dates without a library in Rust",
  "go on",
  "Move the constants of the tax rates to a JSON file",
  "Write a haiku about garbage collection",
  "Compress the PNG files in the public folder",
  "Calculate the SHA-256 checksum of an uploaded document",
  "How many bits does an IPv6 address have?",
  "Split the monolithic GraphQL schema into modules",
  "Mock the S3 client in the integration tests",
  "Show a spinner while the report is loading",
  "Fix the typo in the privacy policy",
  "Implement binary search over a sorted array of timestamps",
  "Create a Terraform module for the staging database",
  "Why is the Swift compiler complaining about optional chaining here?",
  "Add a retry with exponential backoff to the SMTP client",
  "Write a bash one liner that counts lines of Go code",
  "Export the customers as an Excel sheet",
  "Measure the coverage of the warehouse module",
  "Deploy the preview to Netlify",
  "Encrypt the backups with age before the upload",
  "Use feature flags for the new checkout",
];

/** `findMemory` of the command. */
async function loadFinder() {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = mkdtempSync(join(root, "packages/cli/node_modules/.bough-eval-"));
  try {
    const file = join(folder, "find-memory.mjs");
    const entry = "packages/cli/src/memory/find-memory.ts";
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "error",
    });
    return (await import(pathToFileURL(file).href)).findMemory;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Entries whose text a passage shows: itself, and around it the message that it answers and the reply to it. */
async function shownEntries(store, { sessionId, entryId }) {
  const session = await store.openSession(sessionId);
  const parent = (await session.entry(entryId)).parentId;
  const children = (await session.tree.children(entryId)).map(({ id }) => id);
  return [entryId, ...(parent === null ? [] : [parent]), ...children];
}

/** The prompts, each with the scores of what a hook without a least score would give, and which of it is right. undefined: the real sessions are missing. */
async function askAll() {
  if (!hasRealSession()) return undefined;
  const findMemory = await loadFinder();
  const home = mkdtempSync(join(tmpdir(), "bough-eval-"));
  const store = await openStore({ path: join(home, "sessions.db") });
  const ask = async (cwd, prompt) => {
    const call = { eventName: "UserPromptSubmit", kind: "prompt", prompt, cwd, sessionId: "eval", transcript: undefined };
    const start = performance.now();
    const passages = await findMemory(store, { kind: "directory", directories: [cwd] }, call, 0);
    return { passages, ms: performance.now() - start };
  };
  const rows = [];
  try {
    const cwds = new Map();
    for (const folder of FOLDERS) {
      const { sessions } = await importPath(store, realSession(folder));
      for (const one of sessions) {
        const { cwd } = await (await store.openSession(one.sessionId)).record();
        if (!cwds.has(one.path.slice(REAL_SESSIONS.length + 1))) cwds.set(one.path.slice(REAL_SESSIONS.length + 1), cwd);
      }
    }
    await store.catchUpSearch();
    const places = new Map();
    for (const [place, kind, prompt, keys] of REAL_QUESTIONS) {
      const cwd = cwds.get(place);
      if (cwd === undefined || cwd === null) continue;
      places.set(place, cwd);
      const { passages, ms } = await ask(cwd, prompt);
      const given = [];
      for (const passage of passages) {
        const shown = await shownEntries(store, passage);
        given.push({ score: passage.score, isRight: shown.some((id) => keys.some((key) => id.startsWith(key))) });
      }
      rows.push({ refers: true, kind, place, prompt, given, ms });
    }
    for (const cwd of new Set(places.values())) {
      for (const prompt of OTHER_PROMPTS) {
        const { passages, ms } = await ask(cwd, prompt);
        rows.push({
          refers: false,
          kind: "other",
          place: cwd,
          prompt,
          given: passages.map(({ score }) => ({ score, isRight: false })),
          ms,
        });
      }
    }
  } finally {
    await store.close();
    rmSync(home, { recursive: true, force: true });
  }
  return rows;
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

/** The figures of some prompts with a least score. */
function figuresOf(rows, least) {
  const [refer, other] = [rows.filter(({ refers }) => refers), rows.filter(({ refers }) => !refers)];
  const isGiven = ({ given }) => given.some(({ score }) => score >= least);
  return {
    prompts: refer.length,
    right: refer.filter(({ given }) => given.some(({ score, isRight }) => isRight && score >= least)).length,
    given: refer.filter(isGiven).length,
    others: other.length,
    othersGiven: other.filter(isGiven).length,
  };
}

/** The lowest score, in hundredths, with which at most one in twenty of the other prompts gets anything. */
function chooseLeast(rows) {
  for (let least = 0; least < 1; least += 0.01) {
    const { others, othersGiven } = figuresOf(rows, least);
    if (othersGiven <= others / 20) return Math.round(least * 100) / 100;
  }
  return 1;
}

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Divides rows into halves by session, or by the prompt where it refers to none; the larger groups first, each into the smaller half. */
function halve(rows, seed) {
  const random = randomFrom(seed);
  const halves = [[], []];
  for (const refers of [true, false]) {
    const groups = groupsOf(rows, refers).map((group) => ({ group, order: random() }));
    const counts = [0, 0];
    for (const { group } of groups.sort((a, b) => b.group.length - a.group.length || a.order - b.order)) {
      const half = counts[0] === counts[1] ? Number(random() < 0.5) : Number(counts[1] < counts[0]);
      counts[half] += group.length;
      halves[half].push(...group);
    }
  }
  return halves;
}

function groupsOf(rows, refers) {
  const groups = new Map();
  for (const row of rows.filter((one) => one.refers === refers)) {
    const key = refers ? row.place : row.prompt;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

/** The seed of the halves. */
const SEED = 20_261_128;

/** What the hook gives: with its own least score, and with one that was chosen on the other half. undefined: the real sessions are missing. */
export async function holdMemory(seed = SEED) {
  const rows = await askAll();
  if (rows === undefined) return undefined;
  const halves = halve(rows, seed);
  const heldOut = halves.map((half, at) => {
    const least = chooseLeast(halves[1 - at] ?? []);
    return { least, ...figuresOf(half, least) };
  });
  return {
    seed,
    rows,
    medianMs: Math.round(median(rows.map(({ ms }) => ms))),
    shipped: { least: leastScore(), ...figuresOf(rows, leastScore()) },
    heldOut,
  };
}

/** The least score of the command, from its source. */
function leastScore() {
  const source = readFileSync(new URL("../../packages/cli/src/memory/find-memory.ts", import.meta.url), "utf8");
  return Number(/^const LEAST_SCORE = ([\d.]+);$/m.exec(source)?.[1]);
}

const HEADINGS = ["least score", "chosen on", "judged on", "prompts", "right", "given any", "others", "given any"];

/** The figures as rows of a table. */
export function memoryRows({ shipped, heldOut }) {
  const row = (chosen, judged, { least, prompts, right, given, others, othersGiven }) => [
    least.toFixed(2),
    chosen,
    judged,
    ...[prompts, right, given, others, othersGiven].map(String),
  ];
  const names = ["first half", "second half"];
  return [HEADINGS, ...heldOut.map((one, at) => row(names[1 - at], names[at], one)), row("(the command's)", "all", shipped)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf("--seed");
  const held = await holdMemory(at < 0 ? SEED : Number(process.argv[at + 1]));
  if (held === undefined) process.stderr.write("EVALUATION NOT HELD: what a hook gives at a prompt\n");
  else {
    const { rows, ...figures } = held;
    process.stdout.write(
      process.argv.includes("--json")
        ? `${JSON.stringify(figures, null, 2)}\n`
        : `Halves by seed ${figures.seed}; median ${figures.medianMs} ms.\n${table(memoryRows(figures))}\n`,
    );
    const isGiven = (one) => one.score >= figures.shipped.least;
    const isRight = ({ refers, given }) => (refers ? given.some((one) => isGiven(one) && one.isRight) : !given.some(isGiven));
    const shown = process.argv.includes("--scores") ? rows : process.argv.includes("--missed") ? rows.filter((row) => !isRight(row)) : [];
    for (const row of shown) process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
