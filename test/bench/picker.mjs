import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { median, quantile } from "./measure.mjs";
import { withStore } from "./stores.mjs";

export const title = "picker";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(HERE, "../../packages/cli/src/picker/picker.ts");
// Where this package's own dependencies are found from.
const BUILT = join(HERE, "../node_modules/.cache/bough-bench");
const SIZE = { columns: 160, rows: 40 };
const ENTRIES_EACH = 4;

// Every session is called so: the most that a search by name can find.
const NAMES = "session".split("");
const MOVES = ["down", "pagedown", "end", "up", "home"];

/** The session picker: until it shows sessions, until it has all of them, and each key. The terminal is not among it. */
export async function run({ report, stores, quick, rounds }) {
  const sessions = quick ? 1_000 : 10_000;
  const { path } = await stores.ofSessions(sessions, ENTRIES_EACH);
  const { pickerScreen } = await built();
  const times = { first: [], all: [], move: [], search: [], sort: [] };
  await withStore({ path }, async (store) => {
    // Code is compiled in the first rounds, which do not count.
    for (let round = -2; round < rounds(12); round++) await oneRound(pickerScreen, store, round < 0 ? undefined : times);
  });
  report.absolute("picker opens: first sessions on the screen", sessions, median(times.first), 200);
  report.absolute("picker opens: all sessions", sessions, median(times.all), null);
  for (const [name, work] of [
    ["move", "picker, a key that moves"],
    ["search", "picker, a letter of a search by name"],
    ["sort", "picker, another order"],
  ])
    report.absolute(`${work}, slowest of 20`, sessions, quantile(times[name], 0.95), 16, { baseline: median(times[name]) });
}

async function built() {
  mkdirSync(BUILT, { recursive: true });
  const outfile = join(BUILT, "picker.mjs");
  const external = ["@bough/*", "better-sqlite3"];
  await build({ entryPoints: [SOURCE], outfile, external, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  try {
    return await import(`${pathToFileURL(outfile).href}?${Date.now()}`);
  } finally {
    rmSync(BUILT, { recursive: true, force: true });
  }
}

async function oneRound(pickerScreen, store, times) {
  const start = performance.now();
  const picker = new Driven(pickerScreen, store);
  await picker.until((model) => model.rows.length > 0);
  picker.draw();
  times?.first.push(performance.now() - start);
  await picker.until((model) => model.lists.all.state === "complete");
  picker.draw();
  times?.all.push(performance.now() - start);
  for (const key of MOVES) keep(times?.move, picker.timed({ kind: "key", key }));
  for (let at = 0; at < 3; at++) keep(times?.sort, picker.timed({ kind: "key", key: "s", text: "s" }));
  picker.timed({ kind: "key", key: "/", text: "/" });
  for (const key of NAMES) keep(times?.search, picker.timed({ kind: "key", key, text: key }));
}

function keep(list, time) {
  list?.push(time);
}

/** A picker without a terminal: effects are carried out while something is waited for. */
class Driven {
  #effects;
  #notify = () => undefined;

  constructor(pickerScreen, store) {
    const io = { cwd: "/home/dev/project-1", env: {}, home: "/home/dev", now: Date.now };
    this.screen = pickerScreen({ store, io, glyphs: GLYPHS, everywhere: true });
    this.performer = this.screen.performer({ dispatch: (event) => this.#dispatch(event), print: () => undefined });
    const { model, effects } = this.screen.start(SIZE);
    this.model = model;
    this.#effects = effects;
  }

  draw() {
    return this.screen.view(this.model);
  }

  timed(event) {
    const start = performance.now();
    this.#take(event);
    this.draw();
    return performance.now() - start;
  }

  async until(holds) {
    while (!holds(this.model)) {
      const dispatched = new Promise((resolve) => {
        this.#notify = resolve;
      });
      for (const effect of this.#effects.splice(0)) this.performer.perform(effect);
      await dispatched;
    }
  }

  #dispatch(event) {
    this.#take(event);
    this.#notify();
  }

  #take(event) {
    const { model, effects } = this.screen.update(this.model, event);
    this.model = model;
    this.#effects.push(...effects);
  }
}

const GLYPHS = {
  branch: "├─ ",
  lastBranch: "└─ ",
  through: "│  ",
  nothing: "   ",
  onPath: "•",
  arrow: "←",
  error: "✗",
  ellipsis: "…",
  dot: "·",
  to: "→",
  spinner: ["|"],
};
