import {
  type CodePart,
  count,
  type EntryView,
  type NotePart,
  oneLine,
  pairStart,
  type Step,
  type SummaryPart,
  shortenDetail,
  type ViewPart,
  viewStep,
} from "@bough/session-core/view";
import { attachmentLines, callSections, clippedBlock, folded, outputBlocks, quoted, resultSection } from "./call-section.js";
import { escapeMarkdown, fenceCode, toCodeSpan } from "./markdown-text.js";
import type { MarkdownWriter } from "./markdown-writer.js";
import { sanitizeMarkdown } from "./sanitize-markdown.js";

/** The sections of a step, each a block of Markdown to be separated by blank lines, after the line of the settings before it. */
export function stepSections(step: Step, writer: MarkdownWriter): readonly string[] {
  const sections = viewSections(viewStep(step, writer), step.kind === "entry" ? step.entry.createdAtMs : 0, writer);
  return sections.length === 0 ? [] : [...writer.takeSettings(), ...sections];
}

function viewSections(view: EntryView, createdAtMs: number, writer: MarkdownWriter): readonly string[] {
  if (view.isHidden) return omitted("hidden", writer);
  switch (view.kind) {
    case "user":
      return [...writer.userHeading(createdAtMs), ...partSections(view, writer)];
    case "command":
      return [...writer.userHeading(createdAtMs), commandSection(view, writer)];
    case "assistant":
    case "result": {
      const sections = partSections(view, writer);
      return sections.length === 0 ? [] : [...writer.heading(view.heading, true), ...sections];
    }
    case "host":
      return [...writer.heading(view.heading), ...partSections(view, writer)];
    case "system":
      writer.resetHeading();
      return [folded("Instructions of the agent", clippedBlock(textOf(view), "md", writer))];
    case "compaction":
    case "branch-summary":
      writer.resetHeading();
      return partSections(view, writer);
    case "model":
      writer.note({ model: factOf(view) });
      return [];
    case "thinking-level":
      writer.note({ thinking: factOf(view) });
      return [];
    case "edit":
    case "custom":
    case "foreign":
      return omitted(view.kind, writer);
  }
}

function omitted(kind: "edit" | "custom" | "foreign" | "hidden" | "thinking", writer: MarkdownWriter): readonly string[] {
  writer.omitted.count(kind);
  return [];
}

function textOf({ parts }: EntryView): string {
  return parts.flatMap((part) => (part.type === "markdown" || part.type === "text" ? [part.text] : [])).join("\n");
}

function factOf({ parts }: EntryView): string {
  return parts.find((part) => part.type === "fact")?.value ?? "";
}

function partSections({ parts }: EntryView, writer: MarkdownWriter): readonly string[] {
  return parts.flatMap((part) => partSection(part, writer));
}

function partSection(part: ViewPart, writer: MarkdownWriter): readonly string[] {
  switch (part.type) {
    case "markdown":
      return [sanitizeMarkdown(part.text)].filter((text) => text !== "");
    case "thinking":
      if (!writer.thinking) return omitted("thinking", writer);
      return part.isHidden ? ["*[hidden thought]*"] : [folded("Thinking", [sanitizeMarkdown(part.text)])];
    case "text":
      return outputBlocks(part.text, "", writer);
    case "code":
      return [fenceCode(part.text, part.language)];
    case "json":
      return clippedBlock(JSON.stringify(part.value, null, 2), "json", writer);
    case "image":
    case "file":
    case "foreign":
      return attachmentLines(part, writer);
    case "note":
      return [noteLine(part)];
    case "fact":
      return [`*${escapeMarkdown(part.name)}: ${escapeMarkdown(part.value)}*`];
    case "summary":
      return [summaryQuote(part)];
    case "call":
      return callSections(part, writer);
    case "result":
      return [resultSection(part, writer)];
  }
}

function noteLine({ about, text, detail }: NotePart): string {
  return `*${text}${about === "failed" && detail !== undefined ? `: ${escapeMarkdown(detail)}` : ""}*`;
}

/** The longest title of a command that the person ran. */
const COMMAND_CHARS = 200;

/** A command that the person ran, folded. */
function commandSection(view: EntryView, writer: MarkdownWriter): string {
  const command = view.parts.find((part): part is CodePart => part.type === "code")?.text ?? "";
  const notes = view.parts.flatMap((part) => (part.type === "note" ? [noteLine(part)] : []));
  if (writer.toolOutput === "none") {
    writer.omitted.count("output");
    return [`- ${toCodeSpan(`$ ${shortenDetail(oneLine(command, COMMAND_CHARS), COMMAND_CHARS)}`)}`, ...notes].join(" ");
  }
  return folded(`$ ${command.slice(0, pairStart(command, COMMAND_CHARS))}`, [
    fenceCode(command, "sh"),
    ...outputBlocks(textOf(view), "", writer),
    ...notes,
  ]);
}

/** A summary as a quote, with a title that states what it replaces, and the files that it names. */
function summaryQuote(part: SummaryPart): string {
  const blocks = [
    summaryTitle(part),
    sanitizeMarkdown(part.text),
    fileList("Modified files", part.modifiedFiles),
    fileList("Read files", part.readFiles),
  ];
  return quoted(blocks.filter((block) => block !== "").join("\n\n"));
}

function summaryTitle({ of, tokensBefore, tokensAfter }: SummaryPart): string {
  if (of === "branch") return "**Branch summary** — what happened on another branch.";
  const after = tokensAfter === undefined ? "" : ` → ${count(tokensAfter)}`;
  const sizes = tokensBefore === undefined ? "" : ` (${count(tokensBefore)} tokens${after})`;
  return `**Compaction** — summary of the conversation before this point${sizes}. The model went on from it.`;
}

function fileList(title: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : `**${title}:** ${paths.map(toCodeSpan).join(", ")}`;
}
