import { blameFile } from "@bough/compaction";
import { importPath } from "@bough/formats";
import { type Entry, openStore, type Session, type Store, type ToolCallBlock, type ToolResultMessage, textOf } from "@bough/session-core";
import { diffArrays } from "diff";
import { expect, test } from "vitest";
import { hasRealSession, realSession } from "../../../../.ci/real-sessions.mjs";

// Who wrote the lines of real files, against a key that another program makes: the plain edits of a file whose whole text was read are
// replayed, and jsdiff says after each of them which lines are new.

const FOLDERS = ["pi", "claude"];
const FILE_TOOLS = ["read", "write", "edit"];

/** A text, and the entry that wrote each of its lines; null: none did. */
interface Key {
  readonly text: string;
  readonly authors: readonly (string | null)[];
}

interface FileCall {
  readonly entryId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly result: ToolResultMessage | undefined;
}

async function readCalls(session: Session): Promise<readonly FileCall[]> {
  const entries = await session.path();
  const results = new Map<string, ToolResultMessage>();
  for (const entry of entries)
    if (entry.type === "message" && entry.message.role === "toolResult") results.set(entry.message.toolCallId, entry.message);
  return entries
    .flatMap((entry) => callsOf(entry).map((call) => toFileCall(entry.id, call, results.get(call.id))))
    .filter(({ name }) => FILE_TOOLS.includes(name));
}

function callsOf(entry: Entry): readonly ToolCallBlock[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.filter((block): block is ToolCallBlock => block.type === "toolCall");
}

function toFileCall(entryId: string, { name, arguments: args }: ToolCallBlock, result: ToolResultMessage | undefined): FileCall {
  return { entryId, name: name.toLowerCase(), args, path: String(args["path"] ?? args["file_path"]), result };
}

/** undefined: a step is not a plain one, or the text is not known from the start. */
function makeKey(calls: readonly FileCall[]): Key | undefined {
  let text: string | undefined;
  let authors: readonly (string | null)[] = [];
  for (const call of calls) {
    if (call.result === undefined || call.result.isError) continue;
    const next = textAfter(text, call, call.result);
    if (next === undefined) return undefined;
    authors = authorsAfter(text?.split("\n") ?? [], authors, next.split("\n"), call.name === "read" ? null : call.entryId);
    text = next;
  }
  return text === undefined ? undefined : { text, authors };
}

function textAfter(text: string | undefined, { name, args }: FileCall, result: ToolResultMessage): string | undefined {
  if (name === "write") return String(args["content"]);
  if (name === "read") {
    const shown = textOf(result.content);
    const isWhole = args["offset"] === undefined && args["limit"] === undefined && !/truncated|more lines|→/.test(shown);
    return text ?? (isWhole ? shown : undefined);
  }
  const { oldText, newText } = args;
  if (text === undefined || typeof oldText !== "string" || typeof newText !== "string") return undefined;
  const at = text.indexOf(oldText);
  return at < 0 ? undefined : text.slice(0, at) + newText + text.slice(at + oldText.length);
}

function authorsAfter(before: readonly string[], authors: Key["authors"], after: readonly string[], author: string | null): Key["authors"] {
  const stripped = (lines: readonly string[]) => lines.map((line) => line.replace(/\s+/g, ""));
  const next: (string | null)[] = [];
  let at = 0;
  for (const { added, removed, count } of diffArrays(stripped(before), stripped(after))) {
    for (let step = 0; step < count && !removed; step += 1) next.push(added ? author : (authors[at++] ?? null));
    if (removed) at += count;
  }
  return next;
}

/** What a person does afterwards: other white space, CR LF, and every ninth line written anew. */
function changedByHand({ text, authors }: Key): Key {
  const lines = text.split("\n");
  const isChanged = (at: number) => at % 9 === 4 && lines[at]?.trim() !== "";
  const changed = lines.map((line, at) =>
    isChanged(at) ? `${line} // by hand ${at}` : line.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length)),
  );
  return { text: changed.join("\r\n"), authors: authors.map((author, at) => (isChanged(at) ? null : author)) };
}

/** The answers about a text: how many lines have a known author, are said to be written by an entry, and by which wrong one. */
async function compare(store: Store, path: string, { text, authors }: Key) {
  const { lines, entries } = await blameFile(store, { paths: [path], text });
  const texts = text.split(/\r?\n/);
  const shown = lines.filter(({ line }) => texts[line - 1]?.trim() !== "");
  const answers = shown.map(({ line, verdict, entry }) => ({
    verdict,
    key: authors[line - 1] ?? null,
    answer: entries[entry ?? -1]?.entryId,
    line: `${path}:${line}: ${texts[line - 1]}`,
  }));
  const written = answers.filter(({ verdict }) => verdict === "written");
  return {
    known: answers.filter(({ key }) => key !== null).length,
    right: written.filter(({ key, answer }) => key === answer).length,
    wrong: written.filter(({ key, answer }) => key !== answer),
  };
}

test.runIf(hasRealSession())(
  "the lines of real sessions with known authors: none is given to another entry, and most are given to theirs",
  async () => {
    const store = await openStore({ path: ":memory:" });
    for (const folder of FOLDERS) await importPath(store, realSession(folder));
    const found: Awaited<ReturnType<typeof compare>>[] = [];
    for (const { id, cwd } of (await store.listSessions({ kind: "all", limit: 200 })).items) {
      const calls = await readCalls(await store.openSession(id));
      for (const path of new Set(calls.map((call) => call.path))) {
        const own = calls.filter((call) => call.path === path);
        const key = own.some(({ name }) => name !== "read") ? makeKey(own) : undefined;
        if (key === undefined || path.startsWith("~")) continue;
        const whole = path.startsWith("/") ? path : `${cwd}/${path}`;
        found.push(await compare(store, whole, key), await compare(store, whole, changedByHand(key)));
      }
    }
    await store.close();
    const known = found.reduce((sum, one) => sum + one.known, 0);
    const right = found.reduce((sum, one) => sum + one.right, 0);
    process.stderr.write(`[blame] ${known} lines of ${found.length} texts have a known author; ${right} are named\n`);
    expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(known).toBeGreaterThan(200);
    expect(right / known).toBeGreaterThan(0.8);
  },
);
