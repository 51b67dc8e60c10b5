import type { ToolResultMessage } from "../entry/message.js";
import { joinTextBlocks } from "../entry/text.js";

/** The output of a tool, without what the agent added to it for the model. */
export interface ToolText {
  readonly text: string;
  /** The number of reminders that were removed. */
  readonly reminders: number;
}

/**
 * The text of a result as the tool wrote it: without the numbers of lines (`   12→`) and the reminders that Claude Code adds.
 * `isFile`: it is the content of a file, whose numbers may be followed by a tab.
 */
export function toolText(result: ToolResultMessage, isFile: boolean): ToolText {
  const { text, reminders } = withoutReminders(joinTextBlocks(result.content));
  return { text: withoutLineNumbers(text, isFile), reminders };
}

const REMINDER_START = "<system-reminder>";
const REMINDER_END = "</system-reminder>";

/** A text without the blocks that start on a line of their own. Linear: one search for each tag. */
function withoutReminders(text: string): ToolText {
  const kept: string[] = [];
  let done = 0;
  let reminders = 0;
  for (let start = text.indexOf(REMINDER_START); start >= 0; start = text.indexOf(REMINDER_START, start + 1)) {
    if (start < done || !/(?:^|\n)[^\S\n]*$/.test(text.slice(Math.max(done, start - 20), start))) continue;
    const end = text.indexOf(REMINDER_END, start);
    if (end < 0) break;
    kept.push(text.slice(done, start).trimEnd());
    done = end + REMINDER_END.length;
    reminders += 1;
  }
  return reminders === 0 ? { text, reminders } : { text: (kept.join("") + text.slice(done).trimEnd()).replace(/^\n+/, ""), reminders };
}

const ARROW = /^ *\d+→/;
const ARROW_OR_TAB = /^ *\d+(?:→|\t)/;

/** A text whose lines are all numbered without the numbers; any other text unchanged. */
function withoutLineNumbers(text: string, isFile: boolean): string {
  const number = isFile ? ARROW_OR_TAB : ARROW;
  if (!number.test(text)) return text;
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (!lines.slice(0, last).every((line) => number.test(line))) return text;
  return lines.map((line) => line.replace(number, "")).join("\n");
}
