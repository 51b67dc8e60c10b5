/** The line of a summary that was taken from the entries themselves. */
export const EXTRACT_NOTE = "Extracted mechanically; no model wrote this.";

const NOTE_LINE = /^Extracted mechanically; no model wrote this\.[^\n]*\n*/gm;

/** The block between tags at the start of a branch summary; it is for the model and the same in each. */
const NOTE_FOR_MODEL = /^\s*<([a-z-]+)>[\s\S]*?<\/\1>\s*(?=\S)/;

/**
 * Returns a summary for people: without the note for the model at its start, and with its subject first. The line that no model wrote
 * it comes last. Returns a summary that has only the note for the model unchanged.
 */
export function readableSummary(summary: string): string {
  const own = summary.replace(NOTE_FOR_MODEL, "");
  const [note] = own.match(NOTE_LINE) ?? [];
  if (note === undefined) return own;
  const body = own.replace(NOTE_LINE, "").trim();
  return body === "" ? note.trim() : `${body}\n\n${note.trim()}`;
}

/** Lines without a statement: headings, labels, rules and fences. */
const SAYS_NOTHING = /^(?:#|[-*_=`~]{3,}|\*\*[^*]*\*\*:?$|[^.!?]{1,60}:$|\(none\)$|none\.?$)/i;
const MARKS = /^(?:[-*+>]\s+|\d+[.)]\s+|\[[ xX]\]\s+)+/;
/** Lists of files and the like, which end a summary. */
const TAG_LINE = /^<[a-z-]+>$/;

/** The statements of a summary, without headings and marks, joined to one text; those of its goal first. Linear. */
export function summaryGist(summary: string): string {
  const body = readableSummary(summary).replace(NOTE_LINE, "");
  const goal = /^#{1,4} Goal\s*$/m.exec(body)?.index ?? 0;
  const lines = body.slice(goal).split("\n");
  const end = lines.findIndex((line) => TAG_LINE.test(line.trim()));
  const said = lines
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.trim().replace(MARKS, ""))
    .filter((line) => line !== "" && !SAYS_NOTHING.test(line));
  return said.length > 0 ? said.join(" ") : body.replace(/^#+\s*/gm, "").trim();
}
