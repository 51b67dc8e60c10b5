import type { EntryId, Label, Session } from "@bough/session-core";
import { UsageError } from "../errors.js";
import { chooseSession, describeEntry } from "../session/choose-session.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, requireArgument } from "./command.js";

/** `bough label`: sets, prints or removes the label of an entry. The leaf does not move. */
export const runLabel: Command<{ readonly remove?: boolean }> = async ({ io, out, args: [name, entryName, ...words], options }) => {
  const text = words.length === 0 ? undefined : words.join(" ");
  if (text !== undefined && options.remove === true) throw new UsageError("Give a text or --remove, not both.");
  if (text?.trim() === "") throw new UsageError("The label is empty. Give a text, or --remove to remove the label.");
  const purpose = text === undefined && options.remove !== true ? "read" : "change";
  await withStore(io, options.store, purpose, async (store) => {
    const { session } = await chooseSession(store, io, out, requireArgument(name), "directory");
    const entryId = await resolveEntry(session, out, requireArgument(entryName));
    const before = await session.labels.list();
    if (text !== undefined) await session.labels.set(entryId, text);
    else if (options.remove === true) await session.labels.remove(entryId);
    const label = (await session.labels.list()).find((one) => one.entryId === entryId)?.label ?? null;
    if (options.json === true) return out.json({ sessionId: session.id, entryId, label });
    const described = await describeEntry(session, entryId, out);
    const shown = label === null ? styled("dim", "no label") : styled("label", `[${label}]`);
    out.fitted(shown, `  ${described}`);
    if (text !== undefined)
      for (const line of await changeLines(session, out, entryId, label ?? "", before)) out.fitted(styled("dim", line));
  });
};

/** Returns lines about the effect of a label: no change, the label that it replaces, and other entries with the same label. */
async function changeLines(
  session: Session,
  out: Printer,
  entryId: EntryId,
  label: string,
  before: readonly Label[],
): Promise<readonly string[]> {
  const old = before.find((one) => one.entryId === entryId)?.label;
  if (old === label) return ["It had this label already."];
  const same = before.filter((one) => one.label === label && one.entryId !== entryId);
  const others = await Promise.all(same.map(({ entryId: other }) => describeEntry(session, other, out)));
  return [
    ...(old === undefined ? [] : [`Its label was [${old}].`]),
    ...others.map((other) => `Also labelled so, use ids to tell them apart: ${other}`),
  ];
}
