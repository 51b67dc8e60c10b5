import { cleanText } from "../../text/clean-text.js";
import { withoutData } from "./without-data.js";

/** What is read of one text, in UTF-16 code units: half from its start, half from its end. Nobody says more than that. */
const MAX_READ = 24_000;
const FENCE = /^\s{0,8}(?:```|~~~)/;
/** What agents put into a user's message on their own (Claude Code). */
const REMINDER_OPENS = /^\s*<(system-reminder|local-command-[a-z]+|command-[a-z]+)>/;

/** A text without its middle where it is longer than `maxChars`, in UTF-16 code units. Half pairs are mended by `cleanText`. */
export function edgesOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n${text.slice(-half)}`;
}

/** What somebody says in a text: no code blocks, no data, no reminders of the host, no control characters. Linear. */
export function proseOf(text: string): string {
  let until: RegExp | null = null;
  const kept: string[] = [];
  for (const line of withoutData(cleanText(edgesOf(text, MAX_READ))).split("\n")) {
    if (until !== null) {
      if (until.test(line)) until = null;
      continue;
    }
    const reminder = REMINDER_OPENS.exec(line)?.[1];
    const closes = reminder === undefined ? null : new RegExp(`</${reminder}>`);
    if (FENCE.test(line)) until = FENCE;
    else if (closes === null) kept.push(line);
    else if (!closes.test(line)) until = closes;
  }
  return kept.join("\n");
}
