import type { Checkpoint } from "./checkpoint.js";
import { isoOf } from "./checkpoint-file.js";

/** The name of the list of checkpoints in their folder. */
export const INDEX_NAME = "index.md";

/** A checkpoint and the file it is in. */
export interface StoredCheckpoint extends Checkpoint {
  readonly name: string;
}

/** The same without the summary: what the list of a folder tells. */
export type ListedCheckpoint = Omit<StoredCheckpoint, "summary">;

/** The list of the checkpoints in a folder, as a Markdown table; made from the files alone, so it is right after any crash. */
export function indexPage(checkpoints: readonly ListedCheckpoint[]): string {
  const head = ["# Checkpoints", "", "Summaries of a session, oldest first. Written anew with each checkpoint: edits here are lost.", ""];
  if (checkpoints.length === 0) return [...head, "There are none yet: one is written when the context is compacted.", ""].join("\n");
  const table = ["| # | title | created | trigger | tokens | entries | session |", "| ---: | --- | --- | --- | --- | ---: | --- |"];
  return [...head, ...table, ...checkpoints.map(row), ""].join("\n");
}

function row({ number, title, name, createdAtMs, trigger, tokensBefore, tokensAfter, covers, sessionId }: ListedCheckpoint): string {
  const created = isoOf(createdAtMs)?.slice(0, 16).replace("T", " ") ?? "";
  const tokens = `${tokensBefore ?? "?"} → ${tokensAfter ?? "?"}`;
  const cells = [number, `[${cell(title)}](${linkTo(name)})`, created, cell(trigger ?? ""), tokens, covers?.entries ?? 0, cell(sessionId)];
  return `| ${cells.join(" | ")} |`;
}

/** A text in a cell is text: nothing in it ends the cell or the link, or is taken for Markdown or HTML. */
function cell(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]()#+!|~$]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A person may have renamed the file, so its name may hold anything. */
function linkTo(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("(", "%28").replaceAll(")", "%29");
}
