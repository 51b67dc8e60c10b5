import type { Entry, Session } from "@bough/session-core";
import { CONVERSATION_TYPES } from "@bough/session-core/view";
import { wrapLine } from "../format/wrap.js";
import { sessionTitle } from "../session/names.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { transcriptLines } from "./transcript.js";
import { type ShellHost, type ShellWorld, terminalWidth } from "./world.js";

/** Most entries that are read. */
const MAX_ENTRIES = 30;

/** The parts of the text that a shell prints when it opens. */
export interface Intro {
  readonly showsTranscript: boolean;
  readonly showsNotebookNote: boolean;
}

/** Prints the title and the last entries of the session, as many as fit the screen, and a note if no model is configured. */
export async function printIntro(
  world: ShellWorld,
  host: ShellHost,
  glyphs: Glyphs,
  { showsTranscript, showsNotebookNote }: Intro,
): Promise<void> {
  if (showsTranscript) await printTranscriptEnd(world, host, glyphs, showsNotebookNote && world.model === null);
  if (showsNotebookNote && world.model === null)
    host.print(NOTEBOOK_NOTE.flatMap((line) => wrapLine([styled("dim", line)], terminalWidth(world))).concat([[]]));
}

const NOTEBOOK_NOTE = [
  "No model is configured, so this is a notebook: messages are stored, and everything except replies works.",
  "To use a model: bough --model NAME --base-url URL (see bough help environment). Commands: /help",
];

async function printTranscriptEnd(world: ShellWorld, host: ShellHost, glyphs: Glyphs, showsNotebookNote: boolean): Promise<void> {
  const { session, io } = world;
  const width = terminalWidth(world);
  const rows = io.terminal?.stdout.rows || 24;
  const record = await session.record();
  const last = await readNewestEntries(session);
  const shown = fitFromEnd(last, Math.max(rows - (showsNotebookNote ? 14 : 9), 4), width, glyphs);
  const earlier = last.length > 0 ? [[styled("dim", `${glyphs.ellipsis} /tree shows the whole session`)], []] : [];
  const heading = fitLine([styled("bold", sessionTitle(record)), styled("dim", `  ${record.id}`)], width, glyphs.ellipsis);
  host.print([heading, [], ...(shown.isWhole ? [] : earlier), ...shown.lines]);
}

/** The newest entries of the path, oldest first. */
async function readNewestEntries(session: Session): Promise<readonly Entry[]> {
  const { items } = await session.scan({
    order: "up",
    types: CONVERSATION_TYPES,
    limit: MAX_ENTRIES,
  });
  return items.toReversed();
}

/** As many whole entries from the end as fit `rows`, at least the last one. */
function fitFromEnd(
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
  return { lines, isWhole: entries.length < MAX_ENTRIES };
}
