import type { Entry, Session } from "@bough/session-core";
import { wrapLine } from "../format/wrap.js";
import { sessionTitle } from "../session/choose-session.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { transcriptLines } from "./transcript.js";
import type { ShellHost, ShellWorld } from "./world.js";

/** Messages that are read back for a start. */
const MOST = 30;

/** How a shell opens: with the end of the session, with the note that it is a notebook, or just going on. */
export interface Opening {
  readonly showsEnd: boolean;
  readonly saysNotebook: boolean;
}

/** Prints which session this is, and as much of how it ended as fits the screen: so that a person sees where they are. */
export async function printOpening(world: ShellWorld, host: ShellHost, glyphs: Glyphs, { showsEnd, saysNotebook }: Opening): Promise<void> {
  if (showsEnd) await printEnd(world, host, glyphs, saysNotebook && world.model === null);
  if (saysNotebook && world.model === null)
    host.print(NOTEBOOK.flatMap((line) => wrapLine([styled("dim", line)], widthOf(world))).concat([[]]));
}

const NOTEBOOK = [
  "No model is configured, so this is a notebook: what you type is stored, and everything but replies works.",
  "A model: bough --model NAME --base-url URL, or see bough help environment. Commands: /help",
];

function widthOf({ io }: ShellWorld): number {
  return io.terminal?.stdout.columns || 80;
}

async function printEnd(world: ShellWorld, host: ShellHost, glyphs: Glyphs, saysNotebook: boolean): Promise<void> {
  const { session, io } = world;
  const width = widthOf(world);
  const rows = io.terminal?.stdout.rows || 24;
  const record = await session.record();
  const last = await lastEntries(session);
  const shown = ending(last, Math.max(rows - (saysNotebook ? 14 : 9), 4), width, glyphs);
  const earlier = last.length > 0 ? [[styled("dim", `${glyphs.ellipsis} /tree shows all of it`)], []] : [];
  const heading = fitLine([styled("bold", sessionTitle(record)), styled("dim", `  ${record.id}`)], width, glyphs.ellipsis);
  host.print([heading, [], ...(shown.isWhole ? [] : earlier), ...shown.lines]);
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
