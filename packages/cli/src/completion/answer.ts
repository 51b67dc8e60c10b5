import { openStore, type SessionRecord, type Store } from "@bough/session-core";
import type { Command as Commander } from "commander";
import type { Command } from "../commands/command.js";
import { UsageError } from "../errors.js";
import { findNewestHere } from "../session/choose-session.js";
import { sessionTitle, shortSessionId } from "../session/names.js";
import { readOutline } from "../session/paging.js";
import { openOptions } from "../session/store-key.js";
import { locateStore } from "../session/store-location.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { shortIds } from "../tree/print-tree.js";
import { type Candidate, type Completion, complete, namedStore, type StoreNames } from "./candidates.js";
import { FILES, SCRIPTS, SHELLS, type Shell } from "./scripts.js";

/** `bough completion SHELL`: prints the script that completes words in a shell. */
export const runCompletion: Command = async ({ out, args: [shell] }) => {
  const found = SHELLS.find((name) => name === shell);
  if (found === undefined) throw new UsageError(`There is a script for ${SHELLS.join(", ")}. Name one of them.`);
  out.document(SCRIPTS[found]);
};

/** The request of a shell: the line up to the cursor (bash), or the words after `bough`; the last word is at the cursor. */
interface CompletionQuestion {
  readonly shell: Shell;
  readonly line?: string | undefined;
  readonly words: readonly string[];
  /** The topics of `bough help`. */
  readonly topics: readonly string[];
}

/**
 * Answers a shell, one candidate in each line. For bash the first line is the word as it was typed, and the candidates are quoted; for the
 * others a description follows a tab. A question that cannot be answered has an empty answer: a message would end up in the command line.
 */
export async function answerShell(program: Commander, io: Io, question: CompletionQuestion): Promise<string> {
  try {
    const line = question.line === undefined ? undefined : splitLine(question.line);
    const before = line === undefined ? question.words.slice(0, -1) : line.before.slice(1);
    const current = line?.current ?? question.words.at(-1) ?? "";
    const completion = await complete(program, before, current, { topics: question.topics, ...storeNames(io, namedStore(before)) });
    if (completion === FILES) return `${FILES}\n`;
    return line === undefined
      ? describedLines(completion)
      : [line.raw, ...bashWords(completion, line.quote)].map((one) => `${one}\n`).join("");
  } catch {
    // No store, a store of another version, an ambiguous session: nothing to offer.
    return "";
  }
}

function bashWords(completion: Exclude<Completion, string>, quote: "" | "'" | '"'): readonly string[] {
  return completion.map(({ value }) => quoteForBash(oneLine(value), quote));
}

function describedLines(completion: Exclude<Completion, string>): string {
  return completion.map(({ value, description }) => `${oneLine(value)}\t${oneLine(description)}\n`).join("");
}

function oneLine(text: string): string {
  return safe(text.replace(/[\t\r\n]+/g, " "));
}

/** The words of a command line up to the cursor. */
interface TypedLine {
  /** The finished words, without quotes. */
  readonly before: readonly string[];
  /** The word at the cursor without quotes, and as it was typed. */
  readonly current: string;
  readonly raw: string;
  /** The quote that is still open at the cursor. */
  readonly quote: "" | "'" | '"';
}

/**
 * Splits a line as a shell does: quotes and backslashes join, white space separates. The last word is the one at the cursor; it is empty
 * behind white space.
 *
 * @example
 * splitLine("bough tree 'Tabs in").current; // "Tabs in"
 */
export function splitLine(line: string): TypedLine {
  const words: string[] = [];
  let [current, raw, quote]: [string, string, TypedLine["quote"]] = ["", "", ""];
  for (let position = 0; position < line.length; position += 1) {
    const character = line.charAt(position);
    if (quote === "" && /\s/.test(character)) {
      if (raw !== "") words.push(current);
      [current, raw] = ["", ""];
      continue;
    }
    raw += character;
    if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = "";
    else if (character === "\\" && quote !== "'" && position + 1 < line.length) {
      position += 1;
      raw += line.charAt(position);
      current += line.charAt(position);
    } else current += character;
  }
  return { before: words, current, raw, quote };
}

/** A text as one word for bash: inside the quote that is open at the cursor, or with backslashes. */
export function quoteForBash(text: string, quote: TypedLine["quote"]): string {
  switch (quote) {
    case "'":
      return text.replaceAll("'", "'\\''");
    case '"':
      return text.replace(/["\\$`]/g, "\\$&");
    case "":
      return text
        .replace(/[^\w@~%+=:,./-]/gu, (character) => (character.charCodeAt(0) < 0x80 ? `\\${character}` : character))
        .replace(/^~(?!\d)/, "\\~");
  }
}

/** Sessions and entries that are offered. */
const MOST = 200;

/** Maximum number of sessions that are searched for names. */
const SEARCHED = 5000;

/** Maximum time that a key press waits for the store, in milliseconds. */
const MOST_WAIT_MS = 1500;

/** The names in the store that `--store` names, which is opened read-only for each question. */
function storeNames(io: Io, given: string | undefined): StoreNames {
  return {
    sessions: (beginning) => withNames(io, given, (store) => sessionNames(store, beginning)),
    entries: (session, beginning) => withNames(io, given, (store) => entryNames(store, io, session, beginning)),
  };
}

async function withNames(
  io: Io,
  given: string | undefined,
  work: (store: Store) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const location = await locateStore(io, given);
  // A command that prints the key can ask the user, which a key press must not.
  const { BOUGH_KEY_COMMAND: _command, ...env } = io.env;
  const store = await openStore({ ...(await openOptions({ env }, location)), mode: "read-only", busyTimeoutMs: MOST_WAIT_MS });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Ids and titles, newest first. A title that several sessions have names none of them, so that their ids are offered. */
async function sessionNames(store: Store, beginning: string): Promise<readonly Candidate[]> {
  const { items } = await store.listSessions({ kind: "all", archived: "all", empty: true, limit: SEARCHED });
  if (beginning === "")
    return Promise.all(
      items
        .filter(isListed)
        .slice(0, MOST)
        .map((record) => idCandidate(store, record)),
    );
  const folded = beginning.toLowerCase();
  const counts = new Map<string, number>();
  for (const record of items) counts.set(sessionTitle(record), (counts.get(sessionTitle(record)) ?? 0) + 1);
  const byId = items.filter(({ id }) => id.startsWith(beginning)).slice(0, MOST);
  const byTitle = items.filter((record) => sessionTitle(record).toLowerCase().startsWith(folded) && !byId.includes(record)).slice(0, MOST);
  const ids = await Promise.all(
    [...byId, ...byTitle.filter((record) => counts.get(sessionTitle(record)) !== 1)].map((record) => idCandidate(store, record)),
  );
  const titles = byTitle.filter((record) => counts.get(sessionTitle(record)) === 1);
  return [...ids, ...titles.map((record) => ({ value: sessionTitle(record), description: record.id }))];
}

function isListed({ kind, archivedAtMs, entryCount }: SessionRecord): boolean {
  return kind === "conversation" && archivedAtMs === null && entryCount > 0;
}

async function idCandidate(store: Store, record: SessionRecord): Promise<Candidate> {
  return { value: await shortSessionId(store, record.id, { fullIds: false }), description: sessionTitle(record) };
}

/** Labels, the names of leaves, and ids, newest first. */
async function entryNames(store: Store, io: Io, name: string | undefined, beginning: string): Promise<readonly Candidate[]> {
  const record = name === undefined ? await findNewestHere(store, io) : await store.resolveSession(name);
  if (record === undefined) return [];
  const session = await store.openSession(record.id);
  const [outline, labels, leaves] = await Promise.all([readOutline(session), session.labels.list(), session.leaves()]);
  const previews = new Map(outline.map(({ id, preview }) => [id, preview]));
  const shown = outline.filter(({ id, role }) => (beginning === "" ? role === "user" || role === "assistant" : id.startsWith(beginning)));
  const newest = shown.slice(-MOST).reverse();
  const short = shortIds(
    newest.map(({ id }) => id),
    outline,
  );
  const named = [
    ...labels.map(({ label, entryId }) => ({ value: label, description: previews.get(entryId) ?? "" })),
    { value: "@leaf", description: "where the session stands" },
    { value: "@root", description: "the first entry" },
    ...leaves.filter(({ name: leaf }) => leaf !== "main").map(({ name: leaf }) => ({ value: `@${leaf}`, description: "a leaf" })),
  ];
  return [
    ...named.filter(({ value }) => value.toLowerCase().startsWith(beginning.toLowerCase())),
    ...newest.map(({ id, preview }) => ({ value: short.get(id) ?? id, description: preview })),
  ];
}
