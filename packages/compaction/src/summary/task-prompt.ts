import { cleanText } from "@bough/session-core/internals";
import { BRANCH, buildStrictPrompt, FORMS, type Form, NO_TOOLS, SLOTS, STRICT_ABOUT, TURN_PREFIX } from "./prompt-texts.js";
import type { SummaryJob } from "./summary-job.js";
import { escapeForPrompt, wrapInTag } from "./tagged-blocks.js";

/** The part of a session that a prompt is about. */
export type PartKind = "history" | "turn-prefix" | "branch";

/** The task, and whether its answer is in `<summary>`. */
export interface PromptTask {
  readonly text: string;
  readonly needsTag: boolean;
}

/** The contents of a prompt's slots. */
interface PromptSlots {
  /** Serialized, so already escaped. */
  readonly conversation: string | null;
  /** The summary of what precedes the conversation, to be updated. */
  readonly previous: string | null;
  /** A summary that the task is about. */
  readonly notes?: string | undefined;
  readonly missingFacts?: readonly string[] | undefined;
}

type PromptOptions = Pick<SummaryJob, "instructions" | "replaceInstructions" | "hook" | "settings" | "model" | "wantedTokens">;

/** Builds a prompt: context first, the task last, where models follow it best. */
export function buildPrompt(options: PromptOptions, about: PartKind, task: PromptTask, slots: PromptSlots): string {
  const parts = [
    slots.conversation === null ? null : `${SLOTS.conversation}\n\n${wrapInTag("conversation", slots.conversation)}`,
    formatSlot("previous-summary", SLOTS.previous, slots.previous),
    formatSlot("previous-summary", SLOTS.notes, slots.notes ?? null),
    formatSlot("missing-facts", SLOTS.missing, joinLines(slots.missingFacts)),
    formatSlot("additional-context", SLOTS.context, joinLines(options.hook.context)),
    task.text,
    formatSizeLimit(options, about),
    // The start of a turn gets the focus as well.
    about !== "turn-prefix" && replacesPrompt(options) ? null : formatSlot("focus", SLOTS.focus, options.instructions),
    needsToolReminder(options) ? NO_TOOLS : null,
  ];
  return parts.filter((part) => part !== null).join("\n\n");
}

/**
 * The first task: the user's instructions if they replace the prompt, else the hook's prompt, else
 * `summary.customPrompt`, else the preset. The start of a turn always has its own task.
 */
export function buildNormalTask(options: PromptOptions, about: PartKind, updating: boolean): PromptTask {
  const own = about === "turn-prefix" ? null : selectCustomPrompt(options, about);
  if (own !== null) return { text: own, needsTag: false };
  const form = selectForm(options, about);
  return { text: `${updating ? form.update : form.first}\n\n${form.sections}`, needsTag: form.needsTag };
}

/** The task after an answer was rejected or too large. */
export function buildStrictTask(about: PartKind, maxWords: number): PromptTask {
  return { text: [STRICT_ABOUT[about], buildStrictPrompt(maxWords)].filter((part) => part !== "").join(" "), needsTag: false };
}

/** Summaries are seldom longer, so with this much room no size is asked for. */
const USUAL_TOKENS = 3_000;

/** A token is about three quarters of an English word, less in paths and code. */
const WORDS_PER_TOKEN = 0.6;

/** The form of a part's summary. */
function selectForm({ settings }: Pick<PromptOptions, "settings">, about: PartKind): Form {
  switch (about) {
    case "history":
      return FORMS[settings.summary.prompt];
    case "turn-prefix":
      return TURN_PREFIX;
    case "branch":
      return BRANCH;
  }
}

function selectCustomPrompt(options: PromptOptions, about: PartKind): string | null {
  if (replacesPrompt(options)) return options.instructions;
  const custom = about === "history" ? options.settings.summary.customPrompt : null;
  return options.hook.prompt ?? custom;
}

function replacesPrompt({ replaceInstructions, instructions }: PromptOptions): boolean {
  return replaceInstructions === true && instructions !== null;
}

/** The start of a turn gets half, because its summary is joined with that of the history. */
function formatSizeLimit({ wantedTokens = USUAL_TOKENS }: PromptOptions, about: PartKind): string | null {
  if (wantedTokens >= USUAL_TOKENS) return null;
  return `Write at most ${Math.max(20, Math.floor((about === "turn-prefix" ? 0.5 : 1) * WORDS_PER_TOKEN * wantedTokens))} words.`;
}

function formatSlot(
  tag: "previous-summary" | "missing-facts" | "additional-context" | "focus",
  intro: string,
  text: string | null,
): string | null {
  return text === null || text.trim() === "" ? null : `${intro}\n\n${wrapInTag(tag, escapeForPrompt(cleanText(text)).trim())}`;
}

function joinLines(given: readonly string[] | undefined): string | null {
  return given === undefined || given.length === 0 ? null : given.join("\n");
}

/** Opus models call tools even though the system message forbids it. */
function needsToolReminder({ model }: PromptOptions): boolean {
  return model !== null && /opus/i.test(model.modelId);
}
