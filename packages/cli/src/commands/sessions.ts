import type { SessionRecord, Store } from "@bough/session-core";
import { storageOf } from "@bough/session-core/internals";
import { count } from "../format/numbers.js";
import { type Column, tableLines } from "../format/table.js";
import { age } from "../format/time.js";
import { shortDirectory } from "../picker/view-rows.js";
import { sessionTitle } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { type Line, styled } from "../terminal/line.js";
import type { Command, CommonOptions } from "./command.js";

interface SessionsOptions extends CommonOptions {
  readonly here?: boolean;
  readonly archived?: boolean;
  readonly subagents?: boolean;
  readonly empty?: boolean;
  readonly limit: number;
}

const COLUMNS: readonly Column[] = [
  { heading: "id" },
  { heading: "title", shrinksTo: 12 },
  { heading: "messages", align: "right", optional: true },
  { heading: "active", align: "right" },
  { heading: "directory", shrinksTo: 8, optional: true },
];

/** `bough sessions`: lists the sessions of the store, most recently active first. */
export const runSessions: Command<SessionsOptions> = async ({ io, out, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const page = await store.listSessions({
      ...(options.here === true ? { cwd: io.cwd } : {}),
      kind: options.subagents === true ? "all" : "conversation",
      archived: options.archived === true ? "all" : false,
      empty: options.empty === true,
      limit: options.limit,
    });
    const more = page.next !== null;
    if (options.json === true) return out.json({ sessions: page.items, more });
    if (page.items.length === 0) return out.line(await explainEmptyList(store, options));
    const rows = await Promise.all(page.items.map((record) => sessionRow(store, record, io.now(), io.home)));
    for (const line of await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)) out.line(...line);
    if (more) out.line(styled("dim", `The newest ${page.items.length} sessions; --limit N lists more.`));
  });
};

async function sessionRow(store: Store, record: SessionRecord, now: number, home: string): Promise<readonly Line[]> {
  const badge = record.kind === "subagent" ? "[subagent] " : record.archivedAtMs !== null ? "[archived] " : "";
  return [
    [styled("label", await shortSessionId(store, record.id))],
    [styled("dim", badge), sessionTitle(record)],
    [count(record.messageCount)],
    [age(record.activeAtMs, now)],
    [styled("dim", shortDirectory(record.cwd ?? "", home))],
  ];
}

const SHORTEST = 8;

/** The shortest prefix of an id that is unique in the store, at least 8 characters; for subagents the part after the last dot. */
export async function shortSessionId(store: Store, id: string): Promise<string> {
  const own = id.slice(id.lastIndexOf(".") + 1);
  const [agent, other] = own === id ? [] : await storageOf(store).sessionsNamed(own, 2);
  // The id of a subagent is the id of its conversation, a dot and its own part.
  if (agent?.id === id && other === undefined) return own;
  for (let length = SHORTEST; length < id.length; length += 4) {
    const prefix = id.slice(0, length);
    const [first, second] = await storageOf(store).sessionsNamed(prefix, 2);
    if (first?.id === id && (second === undefined || (first.kind === "conversation" && second.kind === "subagent"))) return prefix;
  }
  return id;
}

/** An empty list is explained, so that users can tell filters from an empty store. */
async function explainEmptyList(store: Store, options: SessionsOptions): Promise<string> {
  const [any] = (await store.listSessions({ kind: "all", archived: "all", empty: true, limit: 1 })).items;
  if (any === undefined) return "The store is empty. Import sessions: bough import PATH.";
  if (options.here === true) return "No session was recorded in this directory. Omit --here to list those of all directories.";
  return "There are only archived, empty or subagent sessions: --archived, --empty and --subagents list them.";
}
