import { NothingToUndoError } from "../errors.js";
import { withStore } from "../place/open.js";
import { chooseSession } from "../place/session-choice.js";
import { fitLine, styled } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { leafInShort } from "./changes.js";
import type { Command, CommonOptions } from "./command.js";

interface UndoOptions extends CommonOptions {
  readonly redo?: boolean;
}

/** `bough undo`: takes the last move of the leaf back, or with `--redo` the last undo. */
export const run: Command<UndoOptions> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, name, "directory");
    const previousLeafId = session.leafId;
    const moved = options.redo === true ? await session.redoMove() : await session.undoMove();
    if (!moved)
      throw new NothingToUndoError(
        options.redo === true ? "Nothing was undone since the last move." : "No move of the leaf is left to undo.",
      );
    if (options.json === true) return out.json({ sessionId: session.id, leafId: session.leafId, previousLeafId });
    out.line(...fitLine([styled("dim", "leaf: "), await leafInShort(session)], out.width, out.glyphs.ellipsis));
  });
};
