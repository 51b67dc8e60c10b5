import { withStore } from "../place/open.js";
import { sessionName } from "../place/session-choice.js";
import { type Command, type CommonOptions, required } from "./command.js";

interface ArchiveOptions extends CommonOptions {
  readonly undo?: boolean;
}

/** `bough archive`: puts a session away from lists, or back. */
export const run: Command<ArchiveOptions> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const { id } = await store.resolveSession(required(name));
    await store.archiveSession(id, options.undo !== true);
    const record = await (await store.openSession(id)).record();
    if (options.json === true) return out.json({ session: record });
    out.line(`${options.undo === true ? "listed again" : "archived"}: ${sessionName(record)}`);
  });
};
