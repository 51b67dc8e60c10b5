import { counted } from "@bough/session-core/view";
import { CommandError, UsageError } from "../errors.js";
import { afterResults } from "../session/after-results.js";
import { chooseSession, describeLeaf } from "../session/choose-session.js";
import { resolveEntry, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { styled } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { type Command, requireArgument } from "./command.js";
import type { GoWithSummaryOptions } from "./go-with-summary.js";

interface GoOptions extends GoWithSummaryOptions {
  readonly start?: boolean;
  readonly summarize?: boolean;
}

/** `bough go`: moves the leaf to an entry. The next entry is appended there. */
export const runGo: Command<GoOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const [name, entry] = args;
  if ((entry === undefined) === (options.start !== true))
    throw new UsageError("Name an entry (id, prefix, label, @root, ~N), or give --start for the position before the first entry.");
  checkOptions(options);
  await withStore(io, options.store, "change", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, requireArgument(name), "directory");
    const named = entry === undefined ? null : await resolveEntry(session, out, entry);
    const { id: target, results } = named === null ? { id: null, results: 0 } : await afterResults(session, named);
    if (options.summarize === true) return (await import("./go-with-summary.js")).goWithSummary(invocation, session, target);
    const previousLeafId = session.leafId;
    await session.moveLeaf(target);
    if (options.json === true) return out.json({ sessionId: session.id, leafId: session.leafId, previousLeafId });
    out.fitted(styled("dim", "leaf: "), await describeLeaf(session, out));
    if (results > 0)
      out.line(styled("dim", `The leaf is after ${counted(results, "tool result")} of this entry: a call keeps its results.`));
    if (session.leafId !== previousLeafId)
      out.line(styled("dim", `Back: ${out.command(`undo ${await shortSessionId(store, session.id, out)}`)}`));
  });
};

function checkOptions({ summarize, focus, label, model, baseUrl, apiKeyEnv, extract, window, preset }: GoOptions): void {
  const forSummary = [focus, label, model, baseUrl, apiKeyEnv, extract, window, preset];
  if (summarize !== true && forSummary.some((option) => option !== undefined))
    throw new UsageError("--focus, --label, --preset, --window, --extract and the model options need --summarize.");
}

/** `bough undo`: undoes the last move of the leaf, or redoes it with `--redo`. */
export const runUndo: Command<{ readonly redo?: boolean }> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "change", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, name, "directory");
    const previousLeafId = session.leafId;
    const moved = options.redo === true ? await session.redoMove() : await session.undoMove();
    if (!moved)
      throw new CommandError(
        "NOTHING_TO_UNDO",
        options.redo === true ? "Nothing was undone since the last move." : "No move of the leaf is left to undo.",
      );
    if (options.json === true) return out.json({ sessionId: session.id, leafId: session.leafId, previousLeafId });
    out.fitted(styled("dim", "leaf: "), await describeLeaf(session, out));
  });
};
