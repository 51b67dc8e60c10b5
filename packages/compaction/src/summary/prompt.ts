import { redact } from "@bough/formats/secrets";
import type {
  AssistantBlock,
  BashExecutionMessage,
  ContentBlock,
  ContextMessage,
  ToolCallBlock,
  ToolResultMessage,
} from "@bough/session-core";
import { cleanText, cutMiddle, describeFile } from "@bough/session-core/view";
import type { CompactionSettings } from "../settings/settings.js";
import { callsForbiddenTools } from "../tokens/known-models.js";
import { BRANCH, buildStrictPrompt, FORMS, type Form, NO_TOOLS, SLOTS, STRICT_ABOUT, TURN_PREFIX } from "./prompt-texts.js";
import type { SummaryJob } from "./summarizer-client.js";
import { escapeForPrompt, parseComposed, wrapInTag } from "./tagged-blocks.js";

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

/** Tokens of the shortest useful text of a section: a line of about twelve words. */
const SECTION_TOKENS = 16;
/** The lines of a form that its answer has to repeat: headings and tags. */
const FORM_LINES = /^(?:#+ .+|<\/?[\w-]+>|\d+\. .+:)$/gm;

/** Tokens of the shortest useful summary in the form of a part: a line in each of its sections. 0: the host's own prompt has no known form. */
export function countFormTokens(options: PromptOptions & Pick<SummaryJob, "counter">, about: PartKind): number {
  if (about !== "turn-prefix" && selectCustomPrompt(options, about) !== null) return 0;
  const lines = selectForm(options, about).sections.match(FORM_LINES) ?? [];
  const sections = lines.filter((line) => !line.startsWith("</")).length;
  return options.counter.count(lines.join("\n")) + SECTION_TOKENS * sections;
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

function needsToolReminder({ model }: PromptOptions): boolean {
  return model !== null && callsForbiddenTools(model.modelId);
}

/** Options of serializing a conversation: the settings of the same names. */
export type SerializeOptions = Pick<
  CompactionSettings["summary"],
  "toolResultChars" | "toolArgumentChars" | "includeThinking" | "stripTools" | "redact"
> & {
  /** Shortens the output of a tool instead of the cut at `toolResultChars`. */
  readonly cutResult?: ((text: string) => string) | undefined;
};

/** One message as text. */
export interface SerializedMessage {
  /** Index of the message. */
  readonly at: number;
  readonly text: string;
}

/**
 * Serializes a conversation, one text for each message with content. Omits what a summarizer must not read: secrets,
 * thinking (unless `includeThinking`), images, control characters, ids, usage, errors of failed replies and data of the
 * host. Prompt tags inside a text are escaped, and lines that look like a heading of this format are quoted, so that no
 * text can leave its slot or pose as another speaker. Linear.
 */
export function serializeMessages(messages: readonly ContextMessage[], options: SerializeOptions): readonly SerializedMessage[] {
  const writer = new MessageWriter(options);
  return messages.flatMap((message, at) => {
    const text = writer.write(message);
    return text === "" ? [] : [{ at, text }];
  });
}

/** The serialized conversation as one text. */
export function serializeToText(messages: readonly ContextMessage[], options: SerializeOptions): string {
  return serializeMessages(messages, options)
    .map(({ text }) => text)
    .join(MESSAGE_SEPARATOR);
}

/** Separates two messages of a serialized conversation. */
export const MESSAGE_SEPARATOR = "\n\n";

/** Lines of a text that look like a heading of this format. */
const HEADING = /^(?=\[(?:User|Assistant|Tool result|Tool error|Context|Command|Summary)\b)/gm;

/** Writes messages in order, because a result is omitted if its call was. */
class MessageWriter {
  readonly #options: SerializeOptions;
  readonly #stripped = new Set<string>();

  constructor(options: SerializeOptions) {
    this.#options = options;
  }

  write(message: ContextMessage): string {
    switch (message.role) {
      case "user":
        return this.#speak("User", this.#content(message.content));
      case "assistant":
        return message.content
          .map((block) => this.#block(block))
          .filter((part) => part !== "")
          .join("\n");
      case "toolResult":
        return this.#result(message);
      case "bashExecution":
        return message.excludeFromContext === true ? "" : this.#command(message);
      case "custom":
        return this.#speak("Context", this.#content(message.content));
      case "compactionSummary":
        return this.#speak("Summary of what came before", this.#escape(stripBlocks(message.summary)));
      case "branchSummary":
        return this.#speak("Summary of a branch that was left", this.#escape(stripBlocks(message.summary)));
    }
  }

  #block(block: AssistantBlock): string {
    switch (block.type) {
      case "text":
        return this.#speak("Assistant", this.#escape(block.text));
      case "thinking":
        return this.#options.includeThinking ? this.#speak("Assistant thought", this.#escape(block.thinking)) : "";
      case "toolCall":
        return this.#call(block);
      case "image":
      case "file":
      case "foreign":
        return this.#speak("Assistant", this.#attachment(block));
    }
  }

  #call({ id, name, arguments: given }: ToolCallBlock): string {
    if (this.#options.stripTools.includes(name)) {
      this.#stripped.add(id);
      return "";
    }
    this.#stripped.delete(id);
    const all = Object.entries(given).map(([key, value]) => `${key}=${this.#argument(value)}`);
    return this.#speak("Assistant calls", this.#escape(`${name}(${all.join(", ")})`));
  }

  #argument(value: unknown): string {
    const text = this.#mask(JSON.stringify(value) ?? "null");
    return cut(text, this.#options.toolArgumentChars);
  }

  #result({ toolCallId, toolName, content, isError }: ToolResultMessage): string {
    if (this.#stripped.has(toolCallId) || (toolName !== undefined && this.#options.stripTools.includes(toolName))) return "";
    const text = this.#output(this.#content(content));
    const of = toolName === undefined ? "" : ` of ${this.#escape(toolName)}`;
    return `[${isError ? "Tool error" : "Tool result"}${of}]: ${text === "" ? "(no output)" : text}`;
  }

  #command({ command, output, exitCode }: BashExecutionMessage): string {
    const code = typeof exitCode === "number" && exitCode !== 0 ? `\n(exit code ${exitCode})` : "";
    return `[Command that the user ran]: ${this.#escape(command)}\n${this.#output(this.#escape(output))}${code}`;
  }

  #output(text: string): string {
    const { cutResult, toolResultChars } = this.#options;
    return cutResult === undefined ? cut(text, toolResultChars) : cutResult(text);
  }

  #content(content: string | readonly ContentBlock[]): string {
    if (typeof content === "string") return this.#escape(content);
    return content.map((block) => (block.type === "text" ? this.#escape(block.text) : this.#attachment(block))).join("\n");
  }

  /** Images and files are expensive and add little to a summary; unknown blocks are named by their kind. */
  #attachment(block: Exclude<ContentBlock, { type: "text" }>): string {
    switch (block.type) {
      case "image":
        return "[image]";
      case "file":
        return `[file ${this.#escape(describeFile(block))}]`;
      case "foreign":
        return "[content of another kind]";
    }
  }

  #speak(who: string, text: string): string {
    return text.trim() === "" ? "" : `[${who}]: ${text}`;
  }

  #escape(text: string): string {
    return escapeForPrompt(this.#mask(cleanText(text))).replace(HEADING, "> ");
  }

  // Secrets are masked before the text is cut, because half a key is not recognized.
  #mask(text: string): string {
    return this.#options.redact ? redact(text) : text;
  }
}

/** The file lists and notes of an earlier summary are stored elsewhere and are not repeated. */
function stripBlocks(summary: string): string {
  return parseComposed(summary).body || summary;
}

function cut(text: string, maxChars: number): string {
  return maxChars === 0 ? text : cutMiddle(text, maxChars);
}
