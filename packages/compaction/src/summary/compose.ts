import type { ContextMessage, FileLists } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cleanText, makePathsRelativeTo } from "../text/clean-text.js";
import { redact } from "../text/redact.js";
import { BRANCH_NOTE, KEEP_GOING } from "./prompt-texts.js";
import { type SerializeOptions, serializeToText } from "./serialize.js";
import { escapeForSummary, parseComposed, wrapInTag } from "./tagged-blocks.js";
import { cutMiddle } from "./text/cut-text.js";
import { collectQuotes, formatQuotes, parseQuotes, selectQuotes } from "./user-quotes.js";

/** What a stored summary is made of. */
export interface SummaryParts {
  readonly kind: "compaction" | "branch";
  readonly body: string;
  /** The messages that are summarised, oldest first. */
  readonly messages: readonly ContextMessage[];
  /** The stored text of the summary that this one continues; the person's words and the first run are carried on from it. */
  readonly previous: string | null;
  /** The prompt of the turn that goes on, where it is among what is summarised: carried word for word. */
  readonly prompt?: string | null | undefined;
  /** Cumulative. */
  readonly files: FileLists;
  /** So many of them are shown, at most; undefined: as many as a reader of a large window can use. */
  readonly mostPaths?: number | undefined;
  /** The session's directory: listed paths are relative to it. Default: they stay as they are. */
  readonly cwd?: string | null | undefined;
  readonly host: HostState | null;
  /** null: not known, and nothing is said of it. */
  readonly covers: CoveredEntries | null;
  /** Whether the agent offers the tools of `recallTools`. */
  readonly recall: boolean;
  readonly settings: CompactionSettings;
  readonly model: { readonly modelId: string } | null;
}

/**
 * The text that is stored as an entry's `summary`, and that the context wraps into `<summary>`: the body, before it the first
 * run and the person's words, behind it files, the host's state, what it covers and how to look that up. Each of these is
 * a block in a tag of its own, which nothing inside can close, so that `stripComposed` gives the body back. Secrets are
 * masked where the setting says so. Pure, linear.
 */
export function composeSummary(parts: SummaryParts): string {
  const { settings } = parts;
  const body = escapeForSummary(cleanText(stripComposed(parts.body)));
  const text = [...formatBlocksBefore(parts), body, ...formatBlocksAfter(parts)].filter((part) => part !== "").join("\n\n");
  return settings.summary.redact ? redact(text) : text;
}

/**
 * The body of a stored summary, ours or one that was imported from pi, without lists, notes and reminders: what the next
 * summary is to bring up to date. Thus nothing piles up, however often a session is compacted.
 */
export function stripComposed(summary: string): string {
  return parseComposed(summary).body;
}

function formatBlocksBefore(parts: SummaryParts): readonly string[] {
  if (parts.kind === "branch") return [wrapInTag("branch-note", BRANCH_NOTE)];
  const earlier = parts.previous === null ? null : parseComposed(parts.previous).blocks;
  const head = earlier === null ? formatOwnFirstRun(parts) : (earlier.get("first-run") ?? "");
  const words = formatUserMessages(parts, earlier?.get("user-messages") ?? "");
  const prompt = escapeForSummary(cleanText(parts.prompt ?? "")).trim();
  return [
    parts.settings.keep.head && head !== "" ? wrapInTag("first-run", head) : "",
    words === "" ? "" : wrapInTag("user-messages", words),
    prompt === "" ? "" : wrapInTag("current-prompt", `${CURRENT_PROMPT}\n${prompt}`),
  ];
}

const CURRENT_PROMPT = "What the user asked last and is being worked on, word for word:";

/** The prompt that a stored summary carries; null: none. */
export function readCurrentPrompt(summary: string): string | null {
  return parseComposed(summary).blocks.get("current-prompt")?.replace(`${CURRENT_PROMPT}\n`, "") ?? null;
}

function formatOwnFirstRun({ messages, settings }: SummaryParts): string {
  return settings.keep.head ? formatFirstRun(messages, settings.summary, settings.keep.headChars) : "";
}

function formatUserMessages({ messages, settings }: SummaryParts, carried: string): string {
  if (!settings.userMessages.enabled) return "";
  const words = selectQuotes([...parseQuotes(carried), ...collectQuotes(messages)], settings.userMessages);
  return words.length === 0 ? "" : formatQuotes(words);
}

function formatBlocksAfter(parts: SummaryParts): readonly string[] {
  const { kind, files, cwd, mostPaths, host, covers, recall, settings, model } = parts;
  const { summary } = settings;
  const lookUp = { recall, recordPath: summary.recordPath };
  return [
    ...(summary.fileLists ? formatFileBlocks(files, cwd ?? null, mostPaths) : []),
    ...(host === null ? [] : formatHostState(host)),
    summary.breadcrumb && covers !== null ? wrapInTag("covers", formatCoverage(covers, lookUp)) : "",
    kind === "compaction" && needsReminder(summary.keepGoing, model) ? wrapInTag("keep-going", KEEP_GOING) : "",
  ];
}

/** GPT-4.1 stops to ask after its context was shortened (VS Code's rule, row 106). */
function needsReminder(setting: CompactionSettings["summary"]["keepGoing"], model: SummaryParts["model"]): boolean {
  return setting === "always" || (setting === "auto" && model !== null && /gpt-?4\.1/i.test(model.modelId));
}

/** Which entries a summary stands for. */
interface CoveredEntries {
  readonly fromEntryId: string;
  readonly toEntryId: string;
  readonly entries: number;
}

/** How what is covered can be looked up. */
interface LookUpHints {
  /** The host offers the tools of `recallTools`. */
  readonly recall: boolean;
  /** A file with the whole record. */
  readonly recordPath: string | null;
}

/** What a summary covers and how to ask for it: written into the summary once, when it is made (row 109). */
function formatCoverage({ fromEntryId, toEntryId, entries }: CoveredEntries, { recall, recordPath }: LookUpHints): string {
  const range = fromEntryId === toEntryId ? `entry ${safe(fromEntryId)}` : `entries ${safe(fromEntryId)} to ${safe(toEntryId)}`;
  const lines = [`This summary covers ${entries === 1 ? "1 entry" : `${entries} entries`} of the session (${range}). Nothing was deleted.`];
  if (recall) {
    lines.push(
      "When a detail is missing, look it up before asking the user or guessing: recall_search finds words in what was summarised, recall_describe says what a summary covers, recall_expand gives entries word for word, by id.",
    );
  }
  if (recordPath !== null) {
    const path = safe(recordPath);
    lines.push(`The full record is the file ${path}. It may be long: search it, for example with: grep -n "some words" ${quoted(path)}`);
  }
  return lines.join("\n");
}

function safe(text: string): string {
  return escapeForSummary(cleanText(text).replace(/\n/g, " "));
}

function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Paths that one list shows; the whole lists are in the `details` of the entry. */
const MAX_PATHS = 300;

/**
 * The files of a summary, one path a line, relative to the session's directory `cwd`; pi's form. Empty lists are not shown.
 * Of what `mostPaths` allows for both, the files that were read have what the modified ones leave.
 */
function formatFileBlocks({ readFiles, modifiedFiles }: FileLists, cwd: string | null, mostPaths = 2 * MAX_PATHS): readonly string[] {
  const relative = makePathsRelativeTo(cwd);
  // One file may have been named in both ways.
  const distinct = new Set(modifiedFiles.map(relative));
  const changed = [...distinct];
  const read = [...new Set(readFiles.map(relative))].filter((path) => !distinct.has(path));
  const modified = Math.min(MAX_PATHS, changed.length, mostPaths);
  const blocks: string[] = [];
  if (read.length > 0) blocks.push(wrapInTag("read-files", paths(read, Math.min(MAX_PATHS, mostPaths - modified))));
  if (changed.length > 0) blocks.push(wrapInTag("modified-files", paths(changed, modified)));
  return blocks;
}

function paths(all: readonly string[], most: number): string {
  // A path may hold anything but a line break of ours.
  const shown = all.slice(0, most).map((path) => escapeForSummary(cleanText(path).replace(/\n/g, " ")));
  return [...shown, ...(all.length > most ? [`(${all.length - most} more)`] : [])].join("\n");
}

/** A session's first run: its messages up to the first answer in words (co-cli's head). */
function takeFirstRun(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  const answer = messages.findIndex(
    (message) => message.role === "assistant" && message.content.some((block) => block.type === "text" && block.text.trim() !== ""),
  );
  return answer === -1 ? messages : messages.slice(0, answer + 1);
}

/** The same as a text for a summary, at most `maxChars` characters of it. */
function formatFirstRun(messages: readonly ContextMessage[], options: SerializeOptions, maxChars: number): string {
  return escapeForSummary(cutMiddle(serializeToText(takeFirstRun(messages), options), maxChars));
}

/** A skill that was used in the session. */
export interface InvokedSkill {
  readonly name: string;
  readonly path?: string | undefined;
  readonly instructions: string;
}

/** What a host keeps beside the conversation, and wants the model to have after it was shortened. */
export interface HostState {
  readonly plan?: string | undefined;
  readonly todos?: string | undefined;
  /** Oldest first. */
  readonly skills?: readonly InvokedSkill[] | undefined;
  /** What the agent in charge is (Copilot CLI's active agent). */
  readonly agentSummary?: string | undefined;
}

/** The blocks of a host's state, Copilot CLI's form (row 105): the newest skill in full, older ones by their paths. */
function formatHostState({ plan, todos, skills = [], agentSummary }: HostState): readonly string[] {
  const state = [formatInnerTag("plan", plan), formatInnerTag("todos", todos)].filter((part) => part !== "");
  return [
    state.length === 0 ? "" : wrapInTag("current_state", state.join("\n")),
    skills.length === 0 ? "" : wrapInTag("invoked_skills", formatSkills(skills)),
    escapeText(agentSummary) === "" ? "" : wrapInTag("agent_summary", escapeText(agentSummary)),
  ].filter((block) => block !== "");
}

function formatInnerTag(tag: "plan" | "todos", text: string | undefined): string {
  return escapeText(text) === "" ? "" : `<${tag}>\n${escapeText(text)}\n</${tag}>`;
}

function formatSkills(skills: readonly InvokedSkill[]): string {
  const older = skills.slice(0, -1).map((skill) => `${nameOf(skill)} (read it again when it is needed)`);
  const newest = skills.slice(-1).map((skill) => `<skill>\n${nameOf(skill)}\n${escapeText(skill.instructions)}\n</skill>`);
  return [...older, ...newest].join("\n");
}

function nameOf({ name, path }: InvokedSkill): string {
  return path === undefined ? escapeText(name) : `${escapeText(name)}: ${escapeText(path)}`;
}

function escapeText(text: string | undefined): string {
  return escapeForSummary(cleanText(text ?? "")).trim();
}
