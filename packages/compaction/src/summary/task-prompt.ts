import { cleanText } from "../text/clean-text.js";
import { BRANCH, buildStrictPrompt, FORMS, type Form, NO_TOOLS, SLOTS, STRICT_ABOUT, TURN_PREFIX } from "./prompt-texts.js";
import type { SummaryJob } from "./summary-job.js";
import { escapeForPrompt, wrapInTag } from "./tagged-blocks.js";

/** Which part of a session a prompt is about. */
export type PartKind = "history" | "turn-prefix" | "branch";

/** What is asked: the task in words, and whether its answer stands in `<summary>`. */
export interface PromptTask {
  readonly text: string;
  readonly needsTag: boolean;
}

/** What fills the slots of a prompt. */
interface PromptSlots {
  /** Serialised, so safe already. */
  readonly conversation: string | null;
  /** Of what came before the conversation; to be brought up to date. */
  readonly previous: string | null;
  /** A summary that the task is about, instead. */
  readonly notes?: string | undefined;
  readonly missingFacts?: readonly string[] | undefined;
}

type PromptOptions = Pick<SummaryJob, "instructions" | "replaceInstructions" | "hook" | "settings" | "model" | "wantedTokens">;

/** Summaries seldom have more tokens, so where there is room for these nothing is said of their size. */
const USUAL_TOKENS = 3_000;
/** A token is about three quarters of an English word; paths and code have less. */
const WORDS_PER_TOKEN = 0.6;

/**
 * The task of a first try: the person's own instructions where they replace the prompt, else the hook's prompt, else the
 * setting `customPrompt`, else the preset. The start of a turn always has its own task.
 */
export function buildNormalTask(words: PromptOptions, about: PartKind, updating: boolean): PromptTask {
  const own = about === "turn-prefix" ? null : selectCustomPrompt(words, about);
  if (own !== null) return { text: own, needsTag: false };
  const form = selectForm(words, about);
  return { text: `${updating ? form.update : form.first}\n\n${form.sections}`, needsTag: form.needsTag };
}

/** The task after an answer was rejected or too large. */
export function buildStrictTask(about: PartKind, maxWords: number): PromptTask {
  return { text: [STRICT_ABOUT[about], buildStrictPrompt(maxWords)].filter((part) => part !== "").join(" "), needsTag: false };
}

/** The form that a part's summary has. */
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

function selectCustomPrompt(words: PromptOptions, about: PartKind): string | null {
  if (replacesPrompt(words)) return words.instructions;
  const custom = about === "history" ? words.settings.summary.customPrompt : null;
  return words.hook.prompt ?? custom;
}

function replacesPrompt({ replaceInstructions, instructions }: PromptOptions): boolean {
  return replaceInstructions === true && instructions !== null;
}

/** A prompt: what is known first, what to do last, where models heed it best. */
export function buildPrompt(words: PromptOptions, about: PartKind, task: PromptTask, slots: PromptSlots): string {
  const parts = [
    slots.conversation === null ? null : `${SLOTS.conversation}\n\n${wrapInTag("conversation", slots.conversation)}`,
    formatSlot("previous-summary", SLOTS.previous, slots.previous),
    formatSlot("previous-summary", SLOTS.notes, slots.notes ?? null),
    formatSlot("missing-facts", SLOTS.missing, joinLines(slots.missingFacts)),
    formatSlot("additional-context", SLOTS.context, joinLines(words.hook.context)),
    task.text,
    formatSizeLimit(words, about),
    // Also for the start of a turn (regression R95).
    about !== "turn-prefix" && replacesPrompt(words) ? null : formatSlot("focus", SLOTS.focus, words.instructions),
    needsToolReminder(words) ? NO_TOOLS : null,
  ];
  return parts.filter((part) => part !== null).join("\n\n");
}

/** The start of a turn has its summary beside that of the history. */
function formatSizeLimit({ wantedTokens = USUAL_TOKENS }: PromptOptions, about: PartKind): string | null {
  if (wantedTokens >= USUAL_TOKENS) return null;
  return `Write at most ${Math.max(20, Math.floor((about === "turn-prefix" ? 0.5 : 1) * WORDS_PER_TOKEN * wantedTokens))} words.`;
}

function formatSlot(
  tag: "previous-summary" | "missing-facts" | "additional-context" | "focus",
  says: string,
  text: string | null,
): string | null {
  return text === null || text.trim() === "" ? null : `${says}\n\n${wrapInTag(tag, escapeForPrompt(cleanText(text)).trim())}`;
}

function joinLines(given: readonly string[] | undefined): string | null {
  return given === undefined || given.length === 0 ? null : given.join("\n");
}

/** Rows 100: VS Code and Copilot CLI say it again to Opus. */
function needsToolReminder({ model }: PromptOptions): boolean {
  return model !== null && /opus/i.test(model.modelId);
}
