import type { OutlineRow } from "@bough/session-core";
import { type Line, type Span, styled } from "../terminal/line.js";

/** What an entry is about, in one line that is never empty (regression R191). */
export function rowText(row: OutlineRow): Line {
  switch (row.type) {
    case "message":
      return messageText(row);
    case "compaction":
      return [styled("summary", "[compaction]"), ` ${row.preview}`];
    case "branch_summary":
      return [styled("summary", "[branch summary]"), ` ${withoutNote(row.preview)}`];
    case "model_change":
      return [styled("dim", `[model ${row.preview}]`)];
    case "thinking_level_change":
      return [styled("dim", `[thinking ${row.preview}]`)];
    case "context_edit":
      return [styled("dim", `[context edit] ${row.preview}`)];
    case "custom_message":
      return [styled("dim", "[custom message]"), ` ${row.preview}`];
    case "custom":
      return [styled("dim", `[custom ${row.preview}]`)];
    case "foreign":
      return [styled("dim", `[foreign ${row.preview}]`)];
  }
}

/** Ours begin with a note for the model, the same each time. */
function withoutNote(preview: string): string {
  return preview.replace(/^<branch-note>.*?<\/branch-note>\s*/, "").replace(/^<branch-note> The user explored this branch[^.]*\.\s*/, "");
}

function messageText({ role, preview }: OutlineRow): Line {
  const text = preview === "" ? styled("dim", "(empty)") : preview;
  switch (role) {
    case "user":
      return [styled("user", "user: "), text];
    case "assistant":
      return [styled("assistant", "assistant: "), ...withCalls(text)];
    case "system":
      return [styled("dim", "system: "), text];
    case "toolResult":
      return [styled("dim", "result: "), text];
    case "bashExecution":
      return [styled("dim", "bash: "), text];
    case "custom":
      return [styled("dim", "custom: "), text];
    case null:
      return [text];
  }
}

function withCalls(text: string | Span): Line {
  if (typeof text !== "string") return [text];
  return text.startsWith("[") ? [styled("dim", text)] : [text];
}
