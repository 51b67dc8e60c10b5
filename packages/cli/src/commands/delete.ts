import type { SessionRecord, Store } from "@bough/session-core";
import { ConfirmationNeededError, DeclinedError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import { sessionName } from "../place/session-choice.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { type Command, type CommonOptions, required } from "./command.js";

interface DeleteOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** `bough delete`: takes a session away for good, after asking. */
export const run: Command<DeleteOptions> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const record = await store.resolveSession(required(name));
    const subagents = await subagentsOf(store, record.id);
    const beside =
      subagents.length === 0 ? "" : `, and ${counted(subagents.length, "session of its subagents", "sessions of its subagents")}`;
    const what = `${sessionName(record)}, ${counted(record.entryCount, "entry", "entries")}${beside}`;
    if (options.yes !== true) await confirm(io, what);
    for (const { id } of subagents) await store.deleteSession(id);
    await store.deleteSession(record.id);
    if (options.json === true) return out.json({ deleted: record, subagents: subagents.map(({ id }) => id) });
    out.line(`deleted: ${what}`);
  });
};

/** The sessions that a session's tool calls started, and those that they started themselves: nobody looks for them without it. */
async function subagentsOf(store: Store, parentId: string): Promise<readonly SessionRecord[]> {
  const { items } = await store.listSessions({ parentId, kind: "subagent", archived: "all", empty: true });
  const deeper = await Promise.all(items.map(({ id }) => subagentsOf(store, id)));
  return [...items, ...deeper.flat()];
}

async function confirm(io: Io, what: string): Promise<void> {
  if (io.ask === undefined) throw new ConfirmationNeededError(`Deleting ${what} cannot be undone. Add --yes to do it.`);
  const answer = await io.ask(`Delete ${safe(what)}? This cannot be undone. [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new DeclinedError("Nothing was deleted.");
}
