import { cleanText } from "../text/clean-text.js";
import { BRANCH, FORMS, type Form, NO_TOOLS, SLOTS, STRICT_ABOUT, strictPrompt, TURN_PREFIX } from "./prompt-texts.js";
import type { SummaryJob } from "./summary-job.js";
import { inPrompt, tagged } from "./tagged-blocks.js";

/** Which part of a session a prompt is about. */
export type About = "history" | "turn-prefix" | "branch";

/** What is asked: the task in words, and whether its answer stands in `<summary>`. */
export interface Task {
  readonly text: string;
  readonly needsTag: boolean;
}

/** What fills the slots of a prompt. */
export interface Slots {
  /** Serialised, so safe already. */
  readonly conversation: string | null;
  /** Of what came before the conversation; to be brought up to date. */
  readonly previous: string | null;
  /** A summary that the task is about, instead. */
  readonly notes?: string | undefined;
  readonly missingFacts?: readonly string[] | undefined;
}

type Words = Pick<SummaryJob, "instructions" | "replaceInstructions" | "hook" | "settings" | "model" | "wantedTokens">;

/** Summaries seldom have more tokens, so where there is room for these nothing is said of their size. */
const USUAL_TOKENS = 3_000;
/** A token is about three quarters of an English word; paths and code have less. */
const WORDS_PER_TOKEN = 0.6;

/**
 * The task of a first try: the person's own instructions where they replace the prompt, else the hook's prompt, else the
 * setting `customPrompt`, else the preset. The start of a turn always has its own task.
 */
export function normalTask(words: Words, about: About, updating: boolean): Task {
  const own = about === "turn-prefix" ? null : ownPrompt(words, about);
  if (own !== null) return { text: own, needsTag: false };
  const form = formOf(words, about);
  return { text: `${updating ? form.update : form.first}\n\n${form.sections}`, needsTag: form.needsTag };
}

/** The task after an answer was rejected or too large. */
export function strictTask(about: About, maxWords: number): Task {
  return { text: [STRICT_ABOUT[about], strictPrompt(maxWords)].filter((part) => part !== "").join(" "), needsTag: false };
}

/** The form that a part's summary has. */
export function formOf({ settings }: Pick<Words, "settings">, about: About): Form {
  switch (about) {
    case "history":
      return FORMS[settings.summary.prompt];
    case "turn-prefix":
      return TURN_PREFIX;
    case "branch":
      return BRANCH;
  }
}

function ownPrompt(words: Words, about: About): string | null {
  if (replacesPrompt(words)) return words.instructions;
  const custom = about === "history" ? words.settings.summary.customPrompt : null;
  return words.hook.prompt ?? custom;
}

function replacesPrompt({ replaceInstructions, instructions }: Words): boolean {
  return replaceInstructions === true && instructions !== null;
}

/** A prompt: what is known first, what to do last, where models heed it best. */
export function promptText(words: Words, about: About, task: Task, slots: Slots): string {
  const parts = [
    slots.conversation === null ? null : `${SLOTS.conversation}\n\n${tagged("conversation", slots.conversation)}`,
    slot("previous-summary", SLOTS.previous, slots.previous),
    slot("previous-summary", SLOTS.notes, slots.notes ?? null),
    slot("missing-facts", SLOTS.missing, lines(slots.missingFacts)),
    slot("additional-context", SLOTS.context, lines(words.hook.context)),
    task.text,
    sizeOf(words, about),
    // Also for the start of a turn (regression R95).
    about !== "turn-prefix" && replacesPrompt(words) ? null : slot("focus", SLOTS.focus, words.instructions),
    reachesForTools(words) ? NO_TOOLS : null,
  ];
  return parts.filter((part) => part !== null).join("\n\n");
}

/** The start of a turn has its summary beside that of the history. */
function sizeOf({ wantedTokens = USUAL_TOKENS }: Words, about: About): string | null {
  if (wantedTokens >= USUAL_TOKENS) return null;
  return `Write at most ${Math.max(20, Math.floor((about === "turn-prefix" ? 0.5 : 1) * WORDS_PER_TOKEN * wantedTokens))} words.`;
}

function slot(
  tag: "previous-summary" | "missing-facts" | "additional-context" | "focus",
  says: string,
  text: string | null,
): string | null {
  return text === null || text.trim() === "" ? null : `${says}\n\n${tagged(tag, inPrompt(cleanText(text)).trim())}`;
}

function lines(given: readonly string[] | undefined): string | null {
  return given === undefined || given.length === 0 ? null : given.join("\n");
}

/** Rows 100: VS Code and Copilot CLI say it again to Opus. */
function reachesForTools({ model }: Words): boolean {
  return model !== null && /opus/i.test(model.modelId);
}
