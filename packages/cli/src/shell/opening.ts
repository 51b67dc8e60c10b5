import type { Entry, Session } from "@bough/session-core";
import { titleOf } from "../place/session-choice.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { transcriptLines } from "./transcript.js";
import type { ShellHost, ShellWorld } from "./world.js";

/** Messages that are read back for a start. */
const MOST = 30;

/** Prints which session this is, and as much of how it ended as fits the screen: so that a person sees where they are. */
export async function printOpening(world: ShellWorld, host: ShellHost, glyphs: Glyphs): Promise<void> {
  const { session, model, io } = world;
  const width = io.terminal?.stdout.columns || 80;
  const rows = io.terminal?.stdout.rows || 24;
  const record = await session.record();
  const last = await lastEntries(session);
  const shown = ending(last, Math.max(rows - 10, 4), width, glyphs);
  const earlier = last.length > 0 ? [[styled("dim", `${glyphs.ellipsis} /tree shows all of it`)], []] : [];
  host.print([[styled("bold", titleOf(record)), styled("dim", `  ${record.id}`)], [], ...(shown.isWhole ? [] : earlier), ...shown.lines]);
  if (model === null) {
    host.print([
      [styled("dim", "No model is configured, so this is a notebook: what you type is stored, and everything but replies works.")],
      [styled("dim", "A model: bough --model NAME --base-url URL, or bough help environment. Commands: /help")],
      [],
    ]);
  }
}

/** The newest entries of the path, oldest first. */
async function lastEntries(session: Session): Promise<readonly Entry[]> {
  const { items } = await session.scan({ order: "up", types: ["message", "compaction", "branch_summary", "custom_message"], limit: MOST });
  return items.toReversed();
}

/** As many whole entries from the end as fit `rows`; at least the last one. */
function ending(
  entries: readonly Entry[],
  rows: number,
  width: number,
  glyphs: Glyphs,
): { readonly lines: readonly Line[]; readonly isWhole: boolean } {
  let lines: readonly Line[] = [];
  for (const [back, entry] of entries.toReversed().entries()) {
    const drawn = transcriptLines(entry, width, glyphs);
    if (back > 0 && lines.length + drawn.length > rows) return { lines, isWhole: false };
    lines = [...(back === 0 && drawn.length > rows ? drawn.slice(-rows) : drawn), ...lines];
  }
  return { lines, isWhole: entries.length < MOST };
}
