import { cutLine, oneLine } from "../../text/one-line.js";

/** A heading may stand inside quotes and lists. */
const HEADING = /^((?:(?:[->*+]|\d{1,9}[.)])\s+)*)(?=#)/;

/** Whether a line makes a heading of the one above it, or divides a page. */
export function isUnderline(line: string): boolean {
  return /^\s*(?:-+|=+|[*_]{3,})\s*$/.test(line);
}

/**
 * A text of a session as one line of Markdown that stays one line and means nothing: no heading, no open code, at most
 * `maxChars` UTF-16 code units. Twice is the same as once.
 */
export function safeLine(text: string, maxChars: number): string {
  const line = oneLine(text, maxChars).replace(/`{3,}/g, "``").replace(/~{3,}/g, "~~");
  const whole = withoutOpenCode(line.replace(HEADING, "$1\\"));
  return whole.length > maxChars ? withoutOpenCode(cutLine(whole, maxChars)) : whole;
}

/** A line that is cut shorter than this says little; rather fewer lines. */
const READABLE = 60;

/** Several lines of a text, each safe; the middle gives way where there are more than `maxLines` or `maxChars` in all. */
export function safeLines(
  text: string,
  { maxLines, maxChars }: { readonly maxLines: number; readonly maxChars: number },
): readonly string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown =
    text.length <= maxChars && lines.length <= maxLines ? lines : ends(lines, Math.min(maxLines, Math.floor(maxChars / READABLE)));
  // Every line has its share; what short ones leave goes to the first long ones, which say most.
  const share = Math.floor(maxChars / Math.max(1, shown.length));
  let spare = maxChars - shown.reduce((sum, line) => sum + Math.min(line.length, share), 0);
  return shown.map((line) => {
    const extra = Math.min(spare, Math.max(0, line.length - share));
    spare -= extra;
    return safeLine(line, Math.min(line.length, share) + extra);
  });
}

/** The first and the last lines, and a sign that some are gone between them. */
function ends(lines: readonly string[], count: number): readonly string[] {
  if (lines.length <= count) return lines;
  if (count < 3) return lines.slice(0, Math.max(1, count));
  return [...lines.slice(0, Math.ceil(count / 2)), "…", ...lines.slice(-Math.floor(count / 2))];
}

/** A backtick without its partner would turn what follows into code. */
function withoutOpenCode(line: string): string {
  if ((line.match(/`/g)?.length ?? 0) % 2 === 0) return line;
  const last = line.lastIndexOf("`");
  return line.slice(0, last) + line.slice(last + 1);
}
