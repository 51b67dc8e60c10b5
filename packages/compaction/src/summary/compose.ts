import { redact } from "@bough/formats/secrets";
import type { ContextMessage, FileLists, Session } from "@bough/session-core";
import { cleanText, cutMiddle, takeStart } from "@bough/session-core/view";
import { makePathsRelativeTo } from "../extract/extract.js";
import type { CompactionSettings } from "../settings/settings.js";
import { stopsAfterCompaction } from "../tokens/known-models.js";
import { type SerializeOptions, serializeToText } from "./prompt.js";
import { BRANCH_NOTE, KEEP_GOING } from "./prompt-texts.js";
import { escapeForSummary, parseComposed, wrapInTag } from "./tagged-blocks.js";

/** The parts of a stored summary. */
export interface SummaryParts {
  readonly kind: "compaction" | "branch";
  readonly body: string;
  /** The summarized messages, oldest first. */
  readonly messages: readonly ContextMessage[];
  /** The stored text of the summary that this one continues. User messages and the first run are carried over from it. */
  readonly previous: string | null;
  /** The prompt of the running turn, if it is among the summarized messages; kept word for word. */
  readonly prompt?: string | null | undefined;
  /** Cumulative over all compactions. */
  readonly files: FileLists;
  /** The most paths to list; undefined: up to 300 of each list. */
  readonly mostPaths?: number | undefined;
  /** The session's directory. Listed paths are relative to it; without it they stay as they are. */
  readonly cwd?: string | null | undefined;
  readonly host: HostState | null;
  /** null: unknown, and the block is omitted. */
  readonly covers: CoveredEntries | null;
  /** The agent offers the tools of `recallTools`. */
  readonly recall: boolean;
  readonly settings: CompactionSettings;
  readonly model: { readonly modelId: string } | null;
}

/** State of the host outside of the conversation that the model needs after a compaction. */
export interface HostState {
  readonly plan?: string | undefined;
  readonly todos?: string | undefined;
  /** Oldest first. */
  readonly skills?: readonly InvokedSkill[] | undefined;
  /** A description of the active agent. */
  readonly agentSummary?: string | undefined;
}

/** A skill that was used in the session. */
export interface InvokedSkill {
  readonly name: string;
  readonly path?: string | undefined;
  readonly instructions: string;
}

/**
 * The text that is stored as an entry's `summary` and that the context wraps in `<summary>`: before the body the first
 * run and the user's messages, after it file lists, host state, the covered range and how to look it up. Each part is a
 * block in its own tag, which text inside cannot close, so `stripComposed` recovers the body. Secrets are masked if
 * `summary.redact` is set. Pure, linear.
 */
export function composeSummary(parts: SummaryParts): string {
  const { settings } = parts;
  const body = escapeForSummary(cleanText(stripComposed(parts.body)));
  const text = [...formatBlocksBefore(parts), body, ...formatBlocksAfter(parts)].filter((part) => part !== "").join("\n\n");
  return settings.summary.redact ? redact(text) : text;
}

/**
 * The body of a stored summary, also of one imported from pi, without file lists, notes and reminders. The next summary
 * updates this text, so blocks do not accumulate over compactions.
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

/** The prompt stored in a summary (block `current-prompt`); null: none. */
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

/** GPT-4.1 stops and asks the user after its context was shortened. */
function needsReminder(setting: CompactionSettings["summary"]["keepGoing"], model: SummaryParts["model"]): boolean {
  return setting === "always" || (setting === "auto" && model !== null && stopsAfterCompaction(model.modelId));
}

/** The range of entries that a summary covers. */
interface CoveredEntries {
  readonly fromEntryId: string;
  readonly toEntryId: string;
  readonly entries: number;
}

/** The ways to look up covered entries. */
interface LookUpHints {
  /** The host offers the tools of `recallTools`. */
  readonly recall: boolean;
  /** A file with the full record. */
  readonly recordPath: string | null;
}

/** The covered range and how to look it up. Written once, when the summary is composed. */
function formatCoverage({ fromEntryId, toEntryId, entries }: CoveredEntries, { recall, recordPath }: LookUpHints): string {
  const range = fromEntryId === toEntryId ? `entry ${safe(fromEntryId)}` : `entries ${safe(fromEntryId)} to ${safe(toEntryId)}`;
  const lines = [`This summary covers ${entries === 1 ? "1 entry" : `${entries} entries`} of the session (${range}). Nothing was deleted.`];
  if (recall) {
    lines.push(
      "When a detail is missing, look it up before asking the user or guessing: recall_search finds words in what was summarized, recall_describe says what a summary covers, recall_expand gives entries word for word, by id.",
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

/** The most paths of one list; the complete lists are in the `details` of the entry. */
const MAX_PATHS = 300;

/**
 * The blocks with file lists, in pi's form: one path a line, relative to `cwd`. Empty lists are omitted. Modified files
 * are listed first within `mostPaths`; read files get the rest.
 */
function formatFileBlocks({ readFiles, modifiedFiles }: FileLists, cwd: string | null, mostPaths = 2 * MAX_PATHS): readonly string[] {
  const relative = makePathsRelativeTo(cwd);
  // A file may be in the list both as an absolute and as a relative path.
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
  // A path may contain anything except a line break.
  const shown = all.slice(0, most).map((path) => escapeForSummary(cleanText(path).replace(/\n/g, " ")));
  return [...shown, ...(all.length > most ? [`(${all.length - most} more)`] : [])].join("\n");
}

/** The first run of a session: its messages up to the first reply with text. */
function takeFirstRun(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  const answer = messages.findIndex(
    (message) => message.role === "assistant" && message.content.some((block) => block.type === "text" && block.text.trim() !== ""),
  );
  return answer === -1 ? messages : messages.slice(0, answer + 1);
}

/** The first run as text, at most `maxChars` UTF-16 code units. */
function formatFirstRun(messages: readonly ContextMessage[], options: SerializeOptions, maxChars: number): string {
  return escapeForSummary(cutMiddle(serializeToText(takeFirstRun(messages), options), maxChars));
}

/** The blocks with the host's state, in the form of Copilot CLI: the newest skill in full, older ones by their paths. */
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
  const older = skills.slice(0, -1).map((skill) => `${formatSkillName(skill)} (read it again when it is needed)`);
  const newest = skills.slice(-1).map((skill) => `<skill>\n${formatSkillName(skill)}\n${escapeText(skill.instructions)}\n</skill>`);
  return [...older, ...newest].join("\n");
}

function formatSkillName({ name, path }: InvokedSkill): string {
  return path === undefined ? escapeText(name) : `${escapeText(name)}: ${escapeText(path)}`;
}

function escapeText(text: string | undefined): string {
  return escapeForSummary(cleanText(text ?? "")).trim();
}

const sessionsWithTools = new WeakSet<Session>();

/** True if `recallTools` was called for this session handle; summaries then name the tools. */
export function hasRecallTools(session: Session): boolean {
  return sessionsWithTools.has(session);
}

/** Records that `recallTools` was called for a session handle. */
export function markRecallTools(session: Session): void {
  sessionsWithTools.add(session);
}

/** One user message, quoted word for word, and the number of omitted messages before it. */
interface UserQuote {
  readonly text: string;
  readonly omittedBefore: number;
}

/** Ends a quote that was cut, in the form of Copilot CLI. */
const CUT = "...<truncated>...";

/** Quotes the user messages among some messages, escaped for a summary. Images are named only. */
function collectQuotes(messages: readonly ContextMessage[]): readonly UserQuote[] {
  return messages.flatMap((message) => {
    if (message.role !== "user") return [];
    const { content } = message;
    const text =
      typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
    const safe = escapeForSummary(cleanText(text)).trim();
    return safe === "" ? [] : [{ text: safe, omittedBefore: 0 }];
  });
}

/** The share of both budgets for the newest messages; the oldest get the rest. */
const NEWEST_SHARE = 0.8;

/**
 * Selects the quotes that a summary contains: the newest within `NEWEST_SHARE` of both budgets, then the oldest within the
 * rest. The first one that does not fit is cut. Order is kept.
 */
function selectQuotes(quotes: readonly UserQuote[], settings: CompactionSettings["userMessages"]): readonly UserQuote[] {
  const { maxChars, maxMessages } = settings;
  const newestBudget = { chars: Math.floor(maxChars * NEWEST_SHARE), messages: Math.ceil(maxMessages * NEWEST_SHARE) };
  const newest = takeWithinBudget(quotes.toReversed(), newestBudget).toReversed();
  const older = quotes.slice(0, quotes.length - newest.length);
  // The oldest quotes get the budget that the newest do not use.
  const left = { chars: maxChars - countChars(newest), messages: maxMessages - newest.length };
  const oldest = takeWithinBudget(older, left);
  return joinEnds(quotes, oldest, newest);
}

interface Budget {
  readonly chars: number;
  readonly messages: number;
}

function takeWithinBudget(quotes: readonly UserQuote[], { chars, messages }: Budget): readonly UserQuote[] {
  const taken: UserQuote[] = [];
  let left = chars;
  for (const one of quotes) {
    if (taken.length >= messages || left <= CUT.length) break;
    const fits = one.text.length <= left;
    taken.push(fits ? one : { ...one, text: takeStart(one.text, left - CUT.length) + CUT });
    left -= one.text.length;
  }
  return taken;
}

function countChars(quotes: readonly UserQuote[]): number {
  return quotes.reduce((sum, { text }) => sum + text.length, 0);
}

/** Joins the oldest and the newest quotes, and stores the number of omitted ones at the gap. */
function joinEnds(quotes: readonly UserQuote[], oldest: readonly UserQuote[], newest: readonly UserQuote[]): readonly UserQuote[] {
  const between = quotes.slice(oldest.length, quotes.length - newest.length);
  const gap = between.length + between.reduce((sum, { omittedBefore }) => sum + omittedBefore, 0);
  const [first, ...rest] = newest;
  if (gap === 0 || first === undefined) return [...oldest, ...newest];
  return [...oldest, { ...first, omittedBefore: first.omittedBefore + gap }, ...rest];
}

/** The content of the block `user-messages`. */
function formatQuotes(quotes: readonly UserQuote[]): string {
  const intro = "The user's own messages, word for word, oldest first:";
  const lines = quotes.flatMap(({ text, omittedBefore }) => [
    ...(omittedBefore > 0 ? [`... ${omittedBefore} messages omitted ...`] : []),
    `<user-message>\n${text}\n</user-message>`,
  ]);
  return [intro, ...lines].join("\n");
}

const PART = /^\.\.\. (\d+) messages omitted \.\.\.$|^<user-message>\n([\s\S]*?)\n<\/user-message>$/gm;

/** Parses the content of the block. Quotes are escaped, so they cannot contain its tags. */
function parseQuotes(text: string): readonly UserQuote[] {
  const quotes: UserQuote[] = [];
  let omittedBefore = 0;
  for (const [, omitted, quote] of text.matchAll(PART)) {
    if (quote === undefined) omittedBefore += Number(omitted);
    else {
      quotes.push({ text: quote, omittedBefore });
      omittedBefore = 0;
    }
  }
  return quotes;
}
