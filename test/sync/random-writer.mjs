// Writes into a folder of pi as agents do and as nobody should: grows files in pieces, cuts, rotates, replaces, moves and removes them,
// with folders and links. Arguments: the folder, a seed, how many steps. It ends with every line whole.
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { randomOf } from "../attack/random.mjs";

const [folder, seed, steps] = process.argv.slice(2);
const { below, chance, pick } = randomOf(Number(seed));
let made = 0;

/** What each file holds: whole lines, the ids of its entries, and the part of a line that is not whole yet. */
const files = new Map();

function entryLine(file) {
  made += 1;
  const id = (made * 7919).toString(16).padStart(8, "0");
  const parentId = file.ids.at(-1) ?? null;
  file.ids.push(id);
  const message = { role: "user", content: [{ type: "text", text: `says ${id} ${"é".repeat(below(60))}` }], timestamp: made };
  return `${JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-02T03:04:06.000Z", message })}\n`;
}

function create(path) {
  made += 1;
  const file = { ids: [], rest: "" };
  const header = { type: "session", version: 3, id: `session-${seed}-${made}`, timestamp: "2026-01-02T03:04:05.000Z", cwd: "/home/ada" };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(header)}\n${entryLine(file)}`);
  files.set(path, file);
}

/** Appends some lines, and often only a part of the last one; at any byte, also inside of a character. */
function grow(path, isWhole = false) {
  const file = files.get(path);
  const lines = Array.from({ length: 1 + below(4) }, () => Buffer.from(entryLine(file)));
  const bytes = Buffer.concat([Buffer.from(file.rest), ...lines]);
  const end = isWhole || chance(0.5) ? bytes.length : below(bytes.length);
  appendFileSync(path, bytes.subarray(0, end));
  file.rest = bytes.subarray(end);
}

/** Cuts the file after a whole line; its later entries are gone. */
function cut(path) {
  const file = files.get(path);
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"));
  const kept = lines.slice(0, 1 + below(lines.length));
  writeFileSync(path, kept.map((line) => `${line}\n`).join(""));
  file.rest = "";
  file.ids = kept.slice(1).map((line) => JSON.parse(line).id);
}

const newPath = () => join(folder, pick(["a", "b", "b/c", "d e"]), `${made}.jsonl`);

const STEPS = [
  () => create(newPath()),
  ...Array.from({ length: 80 }, () => (path) => grow(path)),
  (path) => cut(path),
  (path) => create(path),
  (path) => {
    renameSync(path, `${path}.1`);
    create(path);
  },
  (path) => {
    const to = newPath();
    mkdirSync(dirname(to), { recursive: true });
    renameSync(path, to);
    files.set(to, files.get(path));
    files.delete(path);
  },
  (path) => {
    rmSync(path);
    files.delete(path);
  },
  (path) => {
    const gone = dirname(path);
    rmSync(gone, { recursive: true, force: true });
    for (const other of files.keys()) if (other.startsWith(`${gone}/`)) files.delete(other);
  },
  (path) => {
    made += 1;
    symlinkSync(pick([folder, dirname(path), path, "nowhere"]), join(folder, `link-${made}.jsonl`));
  },
  (path) => writeFileSync(`${path}.tmp`, Buffer.from([0xff, 0, 1, 2])),
];

mkdirSync(folder, { recursive: true });
for (let step = 0; step < Number(steps); step += 1) {
  if (files.size < 3) create(newPath());
  pick(STEPS)(pick([...files.keys()]));
  if (chance(0.5)) await setTimeout(1);
}
for (const path of files.keys()) {
  grow(path, true);
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
process.stdout.write(JSON.stringify([...files.keys()]));
