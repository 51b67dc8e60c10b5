import { type Entry, textOf } from "@bough/session-core";
import { entryLines } from "../format/entry-lines.js";
import { textOfLine } from "../terminal/line.js";

/** What somebody means who copies an entry: the text of a message or summary, the lines of anything else. */
export function entryText(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messageText(entry.message) || linesOf(entry);
    case "custom_message":
      return textOf(entry.content);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    default:
      return linesOf(entry);
  }
}

function messageText(message: Extract<Entry, { type: "message" }>["message"]): string {
  return message.role === "bashExecution" ? `$ ${message.command}\n${message.output}` : textOf(message.content);
}

function linesOf(entry: Entry): string {
  return entryLines(entry).map(textOfLine).join("\n");
}
