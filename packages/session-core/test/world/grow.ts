import { assistantMessage, systemMessage, toolResult, userMessage } from "../../src/entry/builders.js";
import type { EntryInput } from "../../src/entry/entry.js";
import type { NewSession } from "../../src/port/records.js";
import type { Session } from "../../src/session/session.js";
import type { Store } from "../../src/store/store.js";
import { collected, openedStore } from "./stores.js";
import type { Step, TreeModel } from "./tree-model.js";

type Named = EntryInput & { readonly id: string };

const orNull = (id: string) => (id === "" ? null : id);

// What the first letter of a name stands for; `about` is what follows the colon.
const KINDS: Readonly<Record<string, (name: string, about: string) => EntryInput>> = {
  u: (name) => userMessage(name),
  a: (name) => assistantMessage(name),
  s: (name) => systemMessage(name),
  // A reply that makes a call, or the calls named: k1:call1,call2
  k: (name, about) => assistantMessage((about === "" ? name : about).split(",").map(bashCall)),
  // A reply of a model that signs its thinking, which makes the calls named: t1:call1,call2; or none: t1
  t: (name, about) =>
    assistantMessage(
      [
        { type: "thinking", thinking: `thought of ${name}`, thinkingSignature: `signed ${name}` },
        { type: "text", text: name },
        ...(about === "" ? [] : about.split(",").map(bashCall)),
      ],
      { provider: "anthropic", model: "claude-fable-5-1" },
    ),
  // The result of a call: r1:k1
  r: (name, about) => toolResult(about, name, { toolName: "bash" }),
  // A compaction that keeps from an entry on: c1:a2; or nothing: c1
  c: (name, about) => ({ type: "compaction", summary: name, firstKeptEntryId: orNull(about) }),
  // The summary of a branch that was left at an entry: b1:a2
  b: (name, about) => ({ type: "branch_summary", summary: name, fromId: orNull(about) }),
  // Omits an entry: x1:a1
  x: (_name, about) => ({ type: "context_edit", targetId: about, replacement: null }),
  // Puts its own name in place of what an entry says: y1:a1
  y: (name, about) => ({ type: "context_edit", targetId: about, replacement: { content: name } }),
  m: (name) => ({ type: "model_change", provider: "p", modelId: name }),
  h: (name) => ({ type: "thinking_level_change", thinkingLevel: name }),
  n: (name) => ({ type: "custom_message", customType: "note", content: name }),
  d: (name) => ({ type: "custom", customType: "data", data: { name } }),
};

function bashCall(id: string) {
  return { type: "toolCall", id, name: "bash", arguments: { command: id } } as const;
}

/** The entry that a word stands for: `u1` is a user's message that says "u1" and has the id u1. */
export function entryNamed(word: string): Named {
  const [name = "", about = ""] = word.split(":");
  const kind = KINDS[name[0] ?? ""];
  if (kind === undefined) throw new RangeError(`no kind of entry is named ${word}`);
  return { ...kind(name, about), id: name };
}

/** Appends words to a session in order; `@a1` moves the leaf to a1, `@` before the first entry. */
export async function plant(session: Session, words: string): Promise<void> {
  for (const word of words.split(" ").filter((one) => one !== "")) {
    if (word.startsWith("@")) await session.moveLeaf(orNull(word.slice(1)));
    else await session.append(entryNamed(word));
  }
}

/** A store with one session that holds these words. */
export async function grow(words: string, given: { store?: Store; session?: NewSession } = {}) {
  const store = given.store ?? (await openedStore());
  const session = await store.createSession(given.session ?? {});
  await plant(session, words);
  return { store, session };
}

/** The ids from the first entry to the leaf, or to another entry. */
export async function pathNames(session: Session, leafId?: string | null): Promise<string> {
  return (await session.path(leafId)).map(({ id }) => id).join(" ");
}

/** The ids of the children of an entry; null: the first entries. */
export async function childNames(session: Session, id: string | null): Promise<string> {
  return names(await session.tree.children(id));
}

/** The ids of some rows. */
export function names(rows: readonly { readonly id: string }[]): string {
  return rows.map(({ id }) => id).join(" ");
}

/** The entries that the context shows, in its order. */
export async function contextNames(session: Session, leafId?: string | null): Promise<string> {
  return (await session.context({ leafId })).entries.join(" ");
}

/** Every entry as `parent>id`, in order of arrival. */
export async function treeNames(session: Session): Promise<string> {
  const entries = await collected(session.entries());
  return entries.map(({ id, parentId }) => `${parentId ?? ""}>${id}`).join(" ");
}

/** Does to a session what a model in memory has taken, and tells the model where an undo or redo has led. */
export async function follow(session: Session, model: TreeModel, step: Step): Promise<void> {
  const word = model.take(step);
  if (word === "undo") await session.undoMove();
  else if (word === "redo") await session.redoMove();
  else if (word !== undefined) await plant(session, word);
  if (word === "undo" || word === "redo") model.leaf = session.leafId;
}
