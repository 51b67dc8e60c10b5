// Opens a navigator, presses each of some keys many times, and prints what it took.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [bundle, path, sessionId, columns, rows] = process.argv.slice(2);
const { timedNavigator } = await import(pathToFileURL(bundle).href);

const ESC = "\u001b";
const KEYS = {
  "a row up": `${ESC}[A`,
  "a page up": `${ESC}[5~`,
  "from end to end": ["g", "G"],
  "fold and unfold a stretch": [`${ESC}[1;5D`, `${ESC}[1;5C`],
  "from branch point to branch point": ["[", "]"],
  "another filter": "\u000f",
};
const TIMES = 24;
/** So long after a key nothing will be drawn any more, in milliseconds. */
const NOTHING = 150;

// A real terminal keeps a process alive; the stream that replaces it here does not.
setInterval(() => undefined, 1000);

/** Pages of files, of Node's program above all, that are mapped into the process: memory that the system can take back. */
function mapped() {
  if (process.platform !== "linux") return null;
  return Number(/^RssFile:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1024;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const navigator = await timedNavigator(path, sessionId, Number(columns), Number(rows));
const keys = {};
for (const [name, sequences] of Object.entries(KEYS)) {
  const times = [];
  for (let at = 0; at < TIMES; at += 1) {
    const sequence = typeof sequences === "string" ? sequences : sequences[at % sequences.length];
    // A key that leads nowhere draws nothing: what it took is known all the same.
    times.push(await navigator.press(sequence, new Promise((resolve) => setTimeout(resolve, NOTHING))));
    // A person is no faster.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  keys[name] = {
    decidedMs: median(times.map(({ decidedMs }) => decidedMs)),
    drawnMs: median(times.map(({ drawnMs }) => drawnMs).filter((ms) => ms < NOTHING)),
  };
}
const { openMs, wholeMs } = navigator;
const mappedMegabytes = mapped();
await navigator.end();
process.stdout.write(JSON.stringify({ openMs, wholeMs, keys, peakMegabytes: process.resourceUsage().maxRSS / 1024, mappedMegabytes }));
process.exit(0);
