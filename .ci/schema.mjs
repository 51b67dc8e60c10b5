// Prints docs/schema.md from a store that has just been migrated, so that the page cannot drift from the tables.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(root, "docs/schema.md");
const { openStore } = await import(join(root, "packages/session-core/dist/index.js"));
const { importPath } = await import(join(root, "packages/formats/dist/index.js"));
const Database = createRequire(join(root, "packages/session-core/package.json"))("better-sqlite3");

/** The page, from the tables as SQLite keeps them. `costs`: the table of the costs of a row; those that were measured last. */
export async function schemaPage(costs = measuredLast()) {
  return inFolder(async (folder) => {
    const path = join(folder, "store.db");
    await (await openStore({ path })).close();
    const file = new Database(path, { readonly: true });
    const version = file.pragma("user_version", { simple: true });
    const rows = file
      .prepare(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '*_text_*' AND name NOT GLOB 'sqlite_*' ORDER BY rowid",
      )
      .all();
    file.close();
    const tables = rows.map(({ sql }) => `${sql.replace(/^ +/gm, "  ").replace(/^ +\)/m, ")")};`).join("\n\n");
    return `# The tables of a store

Format version ${version}, printed from a new store by \`node .ci/schema.mjs\`. The shadow tables of FTS5 are left out.

\`\`\`sql
${tables}
\`\`\`

## What a row costs

${COSTS_INTRO}

${costs}

${PAYLOADS}`;
  });
}

const COSTS_INTRO = `Bytes of the file for each entry, without the free ends of pages: measured with SQLite's \`dbstat\` on a generated session of 2 MB, with
every payload as a row and packed. Two thirds of a skeleton are its preview and ids; on real sessions of pi and Claude Code, whose
previews are shorter, it takes 148 bytes.`;

const PAYLOADS = `## Where a payload is

An entry is a row of \`entry\`, its skeleton. Its payload, the JSON text of the entry without id, type and time, is either a row of
\`payload\` (the newest of a session) or in a block: a row of \`payload_block\` has the payloads of all entries of its session from \`first_seq\`
to \`last_seq\`, at most 64 or until they reach 128 kB. Plain SQL shows the payloads that are rows only. To read any payload:

- \`bough show SESSION ENTRY --json\` prints an entry, \`bough export SESSION --format bough\` a whole session as JSONL.
- In the library, every reading function returns payloads wherever they are: \`session.entry\`, \`session.path\`, \`session.entriesSince\`.
- By hand: \`data\` is a stream of raw deflate (RFC 1951). Decompressed it is one line of JSON, then the JSON texts without anything in
  between. The line is a list of pairs, one for each entry: the distance of its row number from the one before (0 for the first, which
  is \`first_seq\`), and the bytes of its text. \`checksum\` is the CRC-32 of \`data\`.

\`\`\`python
import json, sqlite3, zlib

def payloads(path, session_id):
    """The payloads of a session by row number of the entry."""
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    session = store.execute("SELECT seq FROM session WHERE id = ?", [session_id]).fetchone()[0]
    found = dict(store.execute("SELECT entry_seq, json FROM payload JOIN entry ON seq = entry_seq WHERE session_seq = ?", [session]))
    for seq, data in store.execute("SELECT first_seq, data FROM payload_block WHERE session_seq = ?", [session]):
        head, body = zlib.decompress(data, wbits=-15).split(b"\\n", 1)
        numbers = json.loads(head)
        for distance, length in zip(numbers[::2], numbers[1::2]):
            seq, text, body = seq + distance, body[:length], body[length:]
            found[seq] = text.decode()
    return {seq: json.loads(found[seq]) for seq in sorted(found)}
\`\`\`

Do not write to these tables. Row numbers, counts and the search index depend on each other; \`bough verify\` names what does not fit.
`;

/** The table of the costs that the page has now. */
function measuredLast() {
  return readFileSync(PAGE, "utf8").match(/^\| table or index[\s\S]*?(?=\n\n)/m)?.[0] ?? "";
}

/** Measures how many bytes of the file an entry takes in each table and index. */
export async function measureCosts() {
  const { writePiFile } = await import(join(root, "test/bench/session-files.mjs"));
  const { unpack } = await import(join(root, "test/bench/baseline.mjs"));
  return inFolder(async (folder) => {
    const [path, source] = [join(folder, "store.db"), join(folder, "session.jsonl")];
    writePiFile(source, 2e6);
    const store = await openStore({ path });
    await importPath(store, source);
    await store.catchUpSearch();
    await store.pack();
    await store.close();
    const packed = bytesByName(path);
    unpack(path);
    const costs = { ...packed, payload: bytesByName(path).payload };
    const indexes = {
      sqlite_autoindex_entry_1: "entry, unique (session_seq, seq)",
      sqlite_autoindex_entry_2: "entry, unique (session_seq, id)",
    };
    const lines = Object.entries(costs)
      .filter(([, bytes]) => bytes >= 0.5)
      .sort(([, one], [, other]) => other - one)
      .map(([name, bytes]) => `| ${indexes[name] ?? NOTES[name] ?? name} | ${bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} |`);
    return ["| table or index | bytes an entry |", "| --- | --: |", ...lines].join("\n");
  });
}

const NOTES = {
  payload: "payload, while the payload is a row",
  payload_block: "payload_block, once it is packed",
  entry_text_data: "entry_text, the words of the search index",
  entry_text_docsize: "entry_text, the lengths of the texts",
};

function bytesByName(path) {
  const file = new Database(path, { readonly: true });
  const entries = file.prepare("SELECT count(*) FROM entry").pluck().get();
  // A shared table of one page says nothing about an entry.
  const rows = file.prepare("SELECT name, sum(pgsize - unused) AS bytes FROM dbstat GROUP BY name HAVING count(*) > 1").all();
  file.close();
  return Object.fromEntries(rows.filter(({ name }) => name !== "sqlite_schema").map(({ name, bytes }) => [name, bytes / entries]));
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "bough-schema-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, await schemaPage(await measureCosts()));
