import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantMessage, openStore, type Session, type Store, toolResult, userMessage } from "@bough/session-core";
import { onTestFinished } from "vitest";
import type { CompactionEvent } from "../../src/run/events.js";
import type { Summarizer, SummaryRequest } from "../../src/summarizers/summarizer.js";

/** A store that is closed after the test: real SQLite, in memory unless a path is given. */
export async function openedStore(path = ":memory:"): Promise<Store> {
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}

/** An empty folder that goes away with the test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "bough-compaction-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** About so many tokens of prose, different for each name, so that nothing is a duplicate of anything. */
export function prose(name: string, tokens: number): string {
  return Array.from({ length: Math.ceil(tokens / 4) }, (_one, at) => `the ${name} word${at}`).join(" ");
}

/** Sizes of what is planted, in tokens, roughly. */
export interface Sizes {
  readonly user?: number;
  readonly reply?: number;
  readonly result?: number;
}

/**
 * Appends words in order: `u1` a prompt, `a1` an answer, `k1` a reply that calls a tool, `r1:k1` the result of that call.
 * The entry's id is its name, and its text starts with it.
 */
export async function plant(session: Session, words: string, { user = 50, reply = 50, result = 50 }: Sizes = {}): Promise<void> {
  for (const word of words.split(" ").filter((one) => one !== "")) {
    const [id = "", call = ""] = word.split(":");
    const kind = id[0] ?? "";
    if (kind === "u") await session.append({ ...userMessage(`${id} ${prose(id, user)}`), id });
    else if (kind === "a") await session.append({ ...assistantMessage(`${id} ${prose(id, reply)}`), id });
    else if (kind === "k") {
      const block = { type: "toolCall", id, name: "read", arguments: { path: `src/${id}.ts` } } as const;
      await session.append({ ...assistantMessage([block]), id });
    } else if (kind === "r") await session.append({ ...toolResult(call, `${id} ${prose(id, result)}`, { toolName: "read" }), id });
    else throw new RangeError(`no kind of entry is named ${word}`);
  }
}

/** A session of its own store that holds these words. */
export async function grown(words: string, sizes: Sizes = {}, path?: string): Promise<{ store: Store; session: Session }> {
  const store = await openedStore(path);
  const session = await store.createSession({});
  await plant(session, words, sizes);
  return { store, session };
}

/** Words for so many turns of a prompt, a tool call with its result, and an answer. */
export function turns(from: number, to: number): string {
  const numbers = Array.from({ length: to - from + 1 }, (_one, at) => from + at);
  return numbers.map((n) => `u${n} k${n} r${n}:k${n} a${n}`).join(" ");
}

/** Words for so many rounds of a tool call and its result. */
export function rounds(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_one, at) => `k${from + at} r${from + at}:k${from + at}`).join(" ");
}

/** An answer with the newest few names from what it is about, as a model's has: one that says nothing of its source is refused. */
export function faithful(answer: string, { source }: SummaryRequest): string {
  const calls = (source?.messages ?? []).flatMap((message) => (message.role === "assistant" ? message.content : []));
  const before = /^Files: (.*)$/m.exec(source?.previousSummary ?? "")?.[1]?.split(", ") ?? [];
  const paths = [...before, ...calls.flatMap((block) => (block.type === "toolCall" ? [String(block.arguments["path"])] : []))];
  if (paths.length === 0) return answer;
  const named = `\n\nFiles: ${[...new Set(paths)].slice(-3).join(", ")}`;
  return answer.includes("</summary>") ? answer.replace("</summary>", `${named}\n</summary>`) : answer + named;
}

/** A model in the place of a real one: it answers what it is told to, and remembers what it was asked. */
export function model(answer: string | ((request: SummaryRequest) => string | Promise<string>) = "## Goal\nWhat was asked, in short.") {
  const asked: SummaryRequest[] = [];
  const summarizer: Summarizer = async (request) => {
    asked.push(request);
    return typeof answer === "string" ? faithful(answer, request) : answer(request);
  };
  return { summarizer, asked };
}

/** A model that answers when the test says so; `asked` resolves with the request. */
export function heldModel() {
  let tell: (request: SummaryRequest) => void = () => undefined;
  let give: (answer: string) => void = () => undefined;
  const asked = new Promise<SummaryRequest>((resolve) => {
    tell = resolve;
  });
  const answer = new Promise<string>((resolve) => {
    give = resolve;
  });
  const summarizer: Summarizer = async (request) => {
    tell(request);
    return faithful(await answer, request);
  };
  return { summarizer, asked, give: (text: string) => give(text) };
}

/** The ids behind a context, in its order. */
export async function contextNames(session: Session): Promise<string> {
  return (await session.context()).entries.join(" ");
}

/** The ids from the first entry to the leaf. */
export async function pathNames(session: Session): Promise<string> {
  return (await session.path()).map(({ id }) => id).join(" ");
}

/** Every violation of what must hold in a store. */
export async function findings(store: Store): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const finding of store.verify()) all.push(finding);
  return all;
}

/** A listener that keeps what it hears. */
export function listening() {
  const events: CompactionEvent[] = [];
  return { events, onEvent: (event: CompactionEvent) => void events.push(event), types: () => events.map(({ type }) => type).join(" ") };
}
