import { withStore } from "../place/open.js";
import { chooseSession, sessionName } from "../place/session-choice.js";
import { styled } from "../terminal/line.js";
import { type Command, type CommonOptions, required } from "./command.js";

interface ForkCommandOptions extends CommonOptions {
  readonly at?: string;
  readonly title?: string;
}

/** `bough fork`: copies a path into a new session. */
export const run: Command<ForkCommandOptions> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    const { session } = await chooseSession(store, io, out, required(name), "directory");
    const at = options.at === undefined ? undefined : await session.resolve(options.at);
    const fork = await store.forkSession(session.id, { at, title: options.title });
    const record = await fork.record();
    if (options.json === true) return out.json({ session: record });
    out.line(styled("dim", "new session: "), sessionName(record));
    out.line(styled("dim", `Next: bough tree ${record.id}`));
  });
};
