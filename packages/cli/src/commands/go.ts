import { UsageError } from "../errors.js";
import { withStore } from "../place/open.js";
import { chooseSession } from "../place/session-choice.js";
import { fitLine, styled } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { leafInShort } from "./changes.js";
import { type Command, type CommonOptions, required } from "./command.js";

interface GoOptions extends CommonOptions {
  readonly start?: boolean;
}

/** `bough go`: puts the leaf at an entry, so that whatever is appended next starts a branch there. */
export const run: Command<GoOptions> = async ({ io, out, args: [name, entry], options }) => {
  if ((entry === undefined) === (options.start !== true))
    throw new UsageError("Say where to go: an entry (id, prefix, label, @root, ~N), or --start for before the first one.");
  await withStore(io, options.store, "change", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, required(name), "directory");
    const previousLeafId = session.leafId;
    await session.moveLeaf(entry === undefined ? null : await session.resolve(entry));
    if (options.json === true) return out.json({ sessionId: session.id, leafId: session.leafId, previousLeafId });
    out.line(...fitLine([styled("dim", "leaf: "), await leafInShort(session)], out.width, out.glyphs.ellipsis));
    if (session.leafId !== previousLeafId) out.line(styled("dim", `Back: bough undo ${session.id}`));
  });
};
