import { UsageError } from "../errors.js";
import { withStore } from "../place/open.js";
import { sessionName } from "../place/session-choice.js";
import { type Command, type CommonOptions, required } from "./command.js";

interface RenameOptions extends CommonOptions {
  readonly remove?: boolean;
}

/** `bough rename`: gives a session a title, or takes it away. */
export const run: Command<RenameOptions> = async ({ io, out, args: [name, ...words], options }) => {
  const title = words.join(" ").trim();
  if ((title === "") === (options.remove !== true)) throw new UsageError("Give either a title or --remove.");
  await withStore(io, options.store, "change", async (store) => {
    const { id } = await store.resolveSession(required(name));
    await store.renameSession(id, title === "" ? null : title);
    const record = await (await store.openSession(id)).record();
    if (options.json === true) return out.json({ session: record });
    out.line(sessionName(record));
  });
};
