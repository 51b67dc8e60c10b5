import { UsageError } from "../errors.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { styled } from "../terminal/line.js";
import { type Command, type CommonOptions, requireArgument } from "./command.js";

interface LabelOptions extends CommonOptions {
  readonly remove?: boolean;
}

/** `bough label`: sets, prints or removes the label of an entry. The leaf does not move. */
export const runLabel: Command<LabelOptions> = async ({ io, out, args: [name, entryName, ...words], options }) => {
  const text = words.length === 0 ? undefined : words.join(" ");
  if (text !== undefined && options.remove === true) throw new UsageError("Give a text or --remove, not both.");
  if (text?.trim() === "") throw new UsageError("The label is empty. Give a text, or --remove to remove the label.");
  const purpose = text === undefined && options.remove !== true ? "read" : "change";
  await withStore(io, options.store, purpose, async (store) => {
    const { session } = await chooseSession(store, io, out, requireArgument(name), "directory");
    const entryId = await session.resolve(requireArgument(entryName));
    if (text !== undefined) await session.labels.set(entryId, text);
    else if (options.remove === true) await session.labels.remove(entryId);
    const label = (await session.labels.list()).find((one) => one.entryId === entryId)?.label ?? null;
    if (options.json === true) return out.json({ sessionId: session.id, entryId, label });
    out.line(`${entryId}  `, label === null ? styled("dim", "no label") : styled("label", `[${label}]`));
  });
};
