// Draws every entry of the fixtures, of the real sessions and of a session with each kind of entry, block and call, in every form:
// preview (a pane of the terminal), show (`bough show`), shell, HTML, Markdown and recall. Two runs into two folders show what a change of
// the code changes on screens and in documents:
//
//   node .ci/looks.mjs /tmp/before
//   node .ci/looks.mjs /tmp/after && diff -r /tmp/before /tmp/after
//
// The folder of the real sessions is BOUGH_SESSIONS, default ../shared/sessions; without it, only the others are drawn.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { craftedEntries } from "./looks-entries.mjs";
import { REAL_SESSIONS } from "./real-sessions.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "packages/cli");

const [out] = process.argv.slice(2);
if (out === undefined) {
  process.stderr.write("usage: node .ci/looks.mjs FOLDER\n");
  process.exit(2);
}

// Internal functions, because a command draws one entry at a time and costs a start of Node each time.
const ENTRY = `
export { exportMarkdown, importPath } from "@bough/formats";
export { openStore } from "@bough/session-core";
export { entryKind, entryLines } from "./src/format/entry-lines.ts";
export { entryPreview } from "./src/preview/entry.ts";
export { sessionPage } from "./src/page/page.ts";
export { transcriptLines } from "./src/shell/transcript.ts";
export { glyphsFor, UNICODE_GLYPHS } from "./src/terminal/glyphs.ts";
export { loadExactWidths } from "./src/terminal/width.ts";
export { formatBody, formatHead } from "../compaction/src/recall/entry-text.ts";
`;

/** Resolves the packages of this repository to their sources, so that nothing has to be built before. */
const SOURCES = {
  name: "sources",
  setup({ onResolve }) {
    onResolve({ filter: /^@bough\// }, ({ path }) => {
      const [, name, ...below] = path.split("/");
      const folder = join(root, "packages", name);
      const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const target = exports[[".", ...below].join("/")];
      return { path: join(folder, target.default.replace("/dist/", "/src/").replace(/\.js$/, ".ts")) };
    });
  },
};

async function loadSources() {
  // Two folders deep, as the code of a page reads its assets at `../../dist`.
  const folder = join(cli, ".looks/bundle");
  try {
    await build({
      stdin: { contents: ENTRY, resolveDir: cli, loader: "ts" },
      outfile: join(folder, "looks.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
      logLevel: "error",
      plugins: [SOURCES],
      external: ["better-sqlite3", "pg-native"],
      alias: { "jsonc-parser": join(cli, "node_modules/jsonc-parser/lib/esm/main.js") },
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
    });
    return await import(pathToFileURL(join(folder, "looks.mjs")).href);
  } finally {
    rmSync(join(cli, ".looks"), { recursive: true, force: true });
  }
}

const bough = await loadSources();
await bough.loadExactWidths();
mkdirSync(out, { recursive: true });

/** A line with its styles: `{dim|text}`. */
function lineText(line) {
  return line.map((piece) => (typeof piece === "string" ? piece : `{${piece.style}|${piece.text}}`)).join("");
}

function terminal(entries, draw) {
  return entries.map((entry) => [`== ${entry.id}`, ...draw(entry).map(lineText), ""].join("\n")).join("\n");
}

async function text(pieces) {
  let whole = "";
  for await (const piece of pieces) whole += piece;
  return whole;
}

/** A page without its style and script. */
async function page(session, options) {
  const whole = await text(bough.sessionPage(session, { private: true, ...options }));
  return whole.slice(whole.indexOf('<div id="path">')).replace(/<\/footer>[\s\S]*$/, "</footer>\n");
}

async function markdown(session, options) {
  const ends = (await session.tree.tips?.()) ?? [];
  const leaves = ends.length === 0 ? [undefined] : ends.map(({ id }) => id);
  const texts = [];
  for (const branch of leaves)
    texts.push(await text(bough.exportMarkdown(session, { ...(branch && { branch }), redact: false, ...options })));
  return texts.join("\n\n=== next branch\n\n");
}

async function drawSession(session, name) {
  const entries = [];
  for await (const entry of session.entries()) entries.push(entry);
  const forms = {
    "preview.txt": () => terminal(entries, (entry) => bough.entryPreview({ entry }, 100)),
    "ascii.txt": () => terminal(entries, (entry) => bough.entryPreview({ entry }, 60, bough.glyphsFor({ BOUGH_ASCII: "1" }))),
    "show.txt": () => terminal(entries, (entry) => [[bough.entryKind(entry)], ...bough.entryLines(entry)]),
    "shell.txt": () => terminal(entries, (entry) => bough.transcriptLines(entry, 100, bough.UNICODE_GLYPHS)),
    "recall.txt": () => entries.map((entry) => `${bough.formatHead(entry)}\n${bough.formatBody(entry, true)}\n`).join("\n"),
    "full.html": () => page(session, { thinking: true, toolOutput: "full" }),
    "short.html": () => page(session, { toolOutput: "short" }),
    "none.html": () => page(session, { toolOutput: "none" }),
    "full.md": () => markdown(session, { thinking: true, toolOutput: "full" }),
    "short.md": () => markdown(session, { toolOutput: "short" }),
    "none.md": () => markdown(session, { toolOutput: "none" }),
  };
  for (const [form, draw] of Object.entries(forms)) writeFileSync(join(out, `${name}.${form}`), await draw());
  return entries.length;
}

let sessions = 0;
let entries = 0;
async function drawStore(store, prefix) {
  for (const { id } of (await store.listSessions({ includeArchived: true })).items) {
    const name = `${prefix}.${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
    entries += await drawSession(await store.openSession(id), name);
    sessions += 1;
  }
}

async function inMemory(prefix, fill) {
  const store = await bough.openStore({ path: ":memory:" });
  try {
    await fill(store);
    await drawStore(store, prefix);
  } finally {
    await store.close();
  }
}

await inMemory("crafted", async (store) => {
  const session = await store.createSession({ id: "crafted", title: "Every kind of entry", cwd: "/home/ada/app" });
  for (const entry of craftedEntries()) await session.append(entry);
});

const fixtures = join(root, "packages/formats/test/fixtures");
await inMemory("fixture", async (store) => {
  for (const file of [join(fixtures, "codex-compactions.jsonl"), join(cli, "demo/sample.jsonl")]) await bough.importPath(store, file);
});
const scratch = mkdtempSync(join(tmpdir(), "bough-looks-"));
try {
  const path = join(scratch, "version-3.db");
  writeFileSync(path, gunzipSync(readFileSync(join(root, "packages/session-core/test/fixtures/store-version-3.db.gz"))));
  const store = await bough.openStore({ path });
  try {
    await drawStore(store, "version-3");
  } finally {
    await store.close();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const real = REAL_SESSIONS;
if (existsSync(real)) {
  for (const { name } of readdirSync(real, { withFileTypes: true }).filter((one) => one.isDirectory()))
    await inMemory(name, (store) =>
      bough.importPath(store, join(real, name)).catch((error) => process.stderr.write(`${name}: ${error.message}\n`)),
    );
}
process.stdout.write(`${sessions} sessions with ${entries} entries, each in 11 forms\n`);
