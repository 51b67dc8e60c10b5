import { counted } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { afterResults } from "../session/after-results.js";
import { chooseSession } from "../session/choose-session.js";
import { resolveEntry, resolveSession, sessionName, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { deleteWithSubagents, listSubagents } from "../session/subagents.js";
import { styled } from "../terminal/line.js";
import { type Command, confirm, requireArgument } from "./command.js";

/** `bough rename`: sets or removes the title of a session. */
export const runRename: Command<{ readonly remove?: boolean }> = async ({ io, out, args: [name, ...words], options }) => {
  const title = words.join(" ").trim();
  if ((title === "") === (options.remove !== true)) throw new UsageError("Give a title or --remove.");
  await withStore(io, options.store, "change", async (store) => {
    const { id } = await resolveSession(store, io, out, requireArgument(name));
    await store.renameSession(id, title === "" ? null : title);
    const record = await (await store.openSession(id)).record();
    if (options.json === true) return out.json({ session: record });
    out.line(await sessionName(store, record, out));
  });
};

/** `bough archive`: archives or unarchives a session. Lists omit archived sessions. */
export const runArchive: Command<{ readonly undo?: boolean }> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const { id } = await resolveSession(store, io, out, requireArgument(name));
    await store.archiveSession(id, options.undo !== true);
    const record = await (await store.openSession(id)).record();
    if (options.json === true) return out.json({ session: record });
    out.line(`${options.undo === true ? "unarchived" : "archived"}: ${await sessionName(store, record, out)}`);
  });
};

/** `bough fork`: copies a path into a new session. */
export const runFork: Command<{ readonly at?: string; readonly title?: string }> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const { session } = await chooseSession(store, io, out, requireArgument(name), "directory");
    const at = options.at === undefined ? undefined : (await afterResults(session, await resolveEntry(session, out, options.at))).id;
    const fork = await store.forkSession(session.id, { at, title: options.title });
    const record = await fork.record();
    if (options.json === true) return out.json({ session: record });
    out.line(styled("dim", "new session: "), await sessionName(store, record, out));
    out.line(styled("dim", `Next: ${out.command(`tree ${await shortSessionId(store, record.id, out)}`)}`));
  });
};

/** `bough delete`: deletes a session and the sessions of its subagents, after a confirmation. */
export const runDelete: Command<{ readonly yes?: boolean }> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const record = await resolveSession(store, io, out, requireArgument(name));
    const subagents = await listSubagents(store, record.id);
    const subagentText =
      subagents.length === 0 ? "" : `, and ${counted(subagents.length, "session of its subagents", "sessions of its subagents")}`;
    const what = `${await sessionName(store, record, out)}, ${counted(record.entryCount, "entry", "entries")}${subagentText}`;
    if (options.yes !== true) await confirm(io, `Delete ${what}`, "This cannot be undone.");
    const deleted = await deleteWithSubagents(store, record.id);
    if (options.json === true) return out.json({ deleted: record, subagents: deleted.map(({ id }) => id) });
    out.line(`deleted: ${what}`);
  });
};
