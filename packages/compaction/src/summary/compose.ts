import type { ContextMessage, FileLists } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cleanText } from "../text/clean-text.js";
import { redact } from "../text/redact.js";
import { type Covers, coversText } from "./blocks/covers.js";
import { fileBlocks } from "./blocks/file-blocks.js";
import { firstRunText } from "./blocks/first-run.js";
import { readComposed } from "./blocks/read-composed.js";
import { readWords, selectWords, userWords, wordsText } from "./blocks/user-messages.js";
import { type HostState, hostStateBlocks } from "./host-state.js";
import { BRANCH_NOTE, KEEP_GOING } from "./prompts/shared.js";
import { inSummary, tagged } from "./text/tags.js";

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
  readonly covers: Covers | null;
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
  const body = inSummary(cleanText(stripComposed(parts.body)));
  const text = [...blocksBefore(parts), body, ...blocksAfter(parts)].filter((part) => part !== "").join("\n\n");
  return settings.summary.redact ? redact(text) : text;
}

/**
 * The body of a stored summary, ours or one that was imported from pi, without lists, notes and reminders: what the next
 * summary is to bring up to date. Thus nothing piles up, however often a session is compacted.
 */
export function stripComposed(summary: string): string {
  return readComposed(summary).body;
}

function blocksBefore(parts: SummaryParts): readonly string[] {
  if (parts.kind === "branch") return [tagged("branch-note", BRANCH_NOTE)];
  const earlier = parts.previous === null ? null : readComposed(parts.previous).blocks;
  const head = earlier === null ? ownFirstRun(parts) : (earlier.get("first-run") ?? "");
  const words = wordsOf(parts, earlier?.get("user-messages") ?? "");
  const prompt = inSummary(cleanText(parts.prompt ?? "")).trim();
  return [
    parts.settings.keep.head && head !== "" ? tagged("first-run", head) : "",
    words === "" ? "" : tagged("user-messages", words),
    prompt === "" ? "" : tagged("current-prompt", `${CURRENT_PROMPT}\n${prompt}`),
  ];
}

const CURRENT_PROMPT = "What the user asked last and is being worked on, word for word:";

/** The prompt that a stored summary carries; null: none. */
export function promptIn(summary: string): string | null {
  return readComposed(summary).blocks.get("current-prompt")?.replace(`${CURRENT_PROMPT}\n`, "") ?? null;
}

function ownFirstRun({ messages, settings }: SummaryParts): string {
  return settings.keep.head ? firstRunText(messages, settings.summary, settings.keep.headChars) : "";
}

function wordsOf({ messages, settings }: SummaryParts, carried: string): string {
  if (!settings.userMessages.enabled) return "";
  const words = selectWords([...readWords(carried), ...userWords(messages)], settings.userMessages);
  return words.length === 0 ? "" : wordsText(words);
}

function blocksAfter(parts: SummaryParts): readonly string[] {
  const { kind, files, cwd, mostPaths, host, covers, recall, settings, model } = parts;
  const { summary } = settings;
  const lookUp = { recall, recordPath: summary.recordPath };
  return [
    ...(summary.readFiles ? fileBlocks(files, cwd ?? null, mostPaths) : []),
    ...(host === null ? [] : hostStateBlocks(host)),
    summary.breadcrumb && covers !== null ? tagged("covers", coversText(covers, lookUp)) : "",
    kind === "compaction" && remindsToGoOn(summary.keepGoing, model) ? tagged("keep-going", KEEP_GOING) : "",
  ];
}

/** GPT-4.1 stops to ask after its context was shortened (VS Code's rule, row 106). */
function remindsToGoOn(setting: CompactionSettings["summary"]["keepGoing"], model: SummaryParts["model"]): boolean {
  return setting === "always" || (setting === "auto" && model !== null && /gpt-?4\.1/i.test(model.modelId));
}
