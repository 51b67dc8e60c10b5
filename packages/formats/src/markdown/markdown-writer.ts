import type { Entry, EntryId, SessionId } from "@bough/session-core";
import { type PriceList, pairStart, removeInvisible, type Todo } from "@bough/session-core/view";
import type { SecretCount } from "../secrets/secret.js";
import { type Turn, userTitle } from "./contents.js";
import { escapeMarkdown } from "./markdown-text.js";

/** A branch of a session to write as a document. */
export interface MarkdownDocument {
  readonly session: {
    readonly id: SessionId;
    readonly title: string | null;
    readonly cwd: string | null;
    /** Milliseconds since 1970. */
    readonly createdAtMs: number;
  };
  /** The model at the end of the branch. */
  readonly model: string | null;
  /** The path, oldest entry first; read once, up to the end of the range. */
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly labels: ReadonlyMap<EntryId, string>;
  /** The sessions that tool calls of the branch started, by the id of the call. */
  readonly subagents?: ReadonlyMap<string, Subagent> | undefined;
  /** The turns of a long document, for its contents list. */
  readonly contents?: readonly Turn[] | undefined;
  /** Counts the masked secrets in the pieces that were written; for the last line. */
  readonly maskedSecrets?: (() => readonly SecretCount[]) | undefined;
}

/** A session that a tool call started. */
export interface Subagent {
  readonly id: SessionId;
  readonly title: string;
  /** Its conversation, to be shown below the call; undefined: it is only named. */
  readonly sections?: readonly string[] | undefined;
}

/**
 * The amount of tool calls that is shown. `none`: a line for each call. `short`: the first 20 lines of its output (at most 1,500
 * characters), and 60 lines of its arguments (6,000 characters). `full`: everything.
 */
export type ToolOutput = "none" | "short" | "full";

/** The parts of a branch to show. */
export interface MarkdownOptions {
  /** Default: `short`. */
  readonly toolOutput?: ToolOutput | undefined;
  /** True to show thinking. Default: false. */
  readonly thinking?: boolean | undefined;
  /** The prices by which a cost that is not stored is estimated. Default: the table of `bough prices`. */
  readonly prices?: PriceList | undefined;
  /** The first entry to show. Default: the first of the branch. */
  readonly from?: EntryId | undefined;
  /** The last entry to show. Default: the last of the branch. */
  readonly to?: EntryId | undefined;
  /**
   * Stores an image beside the document and returns the address of the file, relative to the document; undefined: the image is left
   * out. Default: all are left out.
   */
  readonly asset?: ((image: MarkdownImage) => string | undefined) | undefined;
}

/** An image for a document. */
export interface MarkdownImage {
  readonly bytes: Uint8Array;
  /** A name made of a hash of its content and the extension of its type, which is detected from the first bytes. */
  readonly name: string;
}

const SHORT_OUTPUT: Limit = { lines: 20, characters: 1500 };
/** Arguments identify what was done, so they get more lines than output. */
const SHORT_INPUT: Limit = { lines: 60, characters: 6000 };

/** The state of a document while it is written: the options, the omitted content, the last heading. */
export class MarkdownWriter {
  readonly toolOutput: ToolOutput;
  readonly thinking: boolean;
  #heading = "";
  /** The settings since the last section, and those that the document has shown. */
  #settings: Settings = {};
  #shownSettings: Settings;
  /** The last list of tasks that was shown, as JSON. */
  #tasks = "";

  readonly omitted: Omissions;

  /** The session's directory: paths in the titles of calls are relative to it. */
  readonly directory: string | undefined;

  /** The session to show with each call that started an agent, by the id of the call. */
  readonly subagents: ReadonlyMap<string, Subagent>;
  readonly asset: MarkdownOptions["asset"];

  /** True if speakers are named in bold, because the document is part of another one. */
  readonly #isNested: boolean;

  constructor(
    options: MarkdownOptions,
    omitted: Omissions,
    { session: { cwd: directory }, model, subagents }: WriterContext,
    isNested = false,
  ) {
    this.#isNested = isNested;
    this.omitted = omitted;
    this.#shownSettings = model === null ? {} : { model };
    this.subagents = subagents ?? new Map();
    this.asset = options.asset;
    this.directory = directory ?? undefined;
    this.toolOutput = options.toolOutput ?? "short";
    this.thinking = options.thinking ?? false;
  }

  /** The heading of a speaker. With `continues`, none if the last heading is the same, so that a series of tool calls has one. */
  heading(speaker: string, continues = false): readonly string[] {
    const repeats = continues && this.#heading === speaker;
    this.#heading = speaker;
    return repeats ? [] : [this.#headingLine(escapeMarkdown(speaker))];
  }

  /** The heading of a message of the user, with its time. */
  userHeading(createdAtMs: number): readonly string[] {
    this.#heading = "User";
    return [this.#headingLine(userTitle(createdAtMs))];
  }

  #headingLine(text: string): string {
    return this.#isNested ? `**${text}**` : `## ${text}`;
  }

  /** Notes a setting; those before the next section are one line. */
  note(setting: Settings): void {
    this.#settings = { ...this.#settings, ...setting };
  }

  /** The line of the settings that have changed since the last one; none if nothing has. */
  takeSettings(): readonly string[] {
    const { model, thinking } = this.#settings;
    const parts = [
      model === undefined || isSameModel(model, this.#shownSettings.model) ? "" : `Model ${escapeMarkdown(model)}`,
      thinking === undefined || thinking === this.#shownSettings.thinking ? "" : `thinking ${escapeMarkdown(thinking)}`,
    ].filter((part) => part !== "");
    this.#shownSettings = { ...this.#shownSettings, ...this.#settings };
    this.#settings = {};
    const line = parts.join(" · ");
    return line === "" ? [] : [`*${line.charAt(0).toUpperCase()}${line.slice(1)}*`];
  }

  /** True if a list of tasks differs from the last one. */
  isNewTaskList(tasks: readonly Todo[]): boolean {
    const json = JSON.stringify(tasks);
    if (json === this.#tasks) return false;
    this.#tasks = json;
    return true;
  }

  /** Makes the next call of `heading` return a heading. */
  resetHeading(): void {
    this.#heading = "";
  }

  clipOutput(text: string): Clipped {
    return this.#clip(text, SHORT_OUTPUT);
  }

  clipInput(text: string): Clipped {
    return this.#clip(text, SHORT_INPUT);
  }

  #clip(text: string, limit: Limit): Clipped {
    const shown = clipText(removeInvisible(text), this.toolOutput === "full" ? null : limit);
    if (shown.missing !== null) this.omitted.count("shortened");
    return shown;
  }
}

/** The model and the thinking level. */
interface Settings {
  readonly model?: string;
  readonly thinking?: string;
}

type WriterContext = Pick<MarkdownDocument, "model" | "subagents"> & { readonly session: { readonly cwd: string | null } };

/** True if two names are of one model; one of them can lack the provider. */
function isSameModel(a: string, b: string | undefined): boolean {
  return b !== undefined && (a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`));
}

// The kinds of content that a document can omit, in singular and plural.
const NAMES = {
  earlier: ["earlier entry", "earlier entries"],
  thinking: ["thought of the model", "thoughts of the model"],
  output: ["tool output", "tool outputs"],
  shortened: ["shortened text", "shortened texts"],
  input: ["change or argument of a call", "changes and arguments of calls"],
  reminder: ["reminder of the agent to the model", "reminders of the agent to the model"],
  image: ["image", "images"],
  file: ["file", "files"],
  block: ["block of an unknown type", "blocks of unknown types"],
  hidden: ["hidden message", "hidden messages"],
  edit: ["context edit", "context edits"],
  custom: ["custom entry", "custom entries"],
  foreign: ["record of another program", "records of another program"],
} as const;

/** A kind of content that a document omits. */
type OmissionKind = keyof typeof NAMES;

/** Counts the omitted content, which the last line of the document lists. */
export class Omissions {
  readonly #counts = new Map<string, number>();
  #later = false;

  count(kind: OmissionKind, times = 1): void {
    if (times > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** The document ends before the branch. The entries after it are not read, so their number is unknown. */
  endsEarly(): void {
    this.#later = true;
  }

  /** The last line of the document. */
  line(): string {
    const parts = Object.entries(NAMES).flatMap(([kind, names]) => this.#part(kind, names));
    if (this.#later) parts.push("everything after the last entry shown");
    return parts.length === 0 ? "*Nothing of this branch was left out.*" : `*Left out of this document: ${parts.join(", ")}.*`;
  }

  #part(kind: string, names: readonly [one: string, several: string]): readonly string[] {
    const count = this.#counts.get(kind);
    return count === undefined ? [] : [`${count} ${names[count === 1 ? 0 : 1]}`];
  }
}

/** The length to show of a text; `characters` in UTF-16 code units. */
interface Limit {
  readonly lines: number;
  readonly characters: number;
}

/** The start of a text, and a description of the missing part. */
interface Clipped {
  readonly text: string;
  /** null: the text is complete. */
  readonly missing: string | null;
}

/** Cuts a text at the limit (null: no limit), never inside a surrogate pair. */
export function clipText(text: string, limit: Limit | null): Clipped {
  if (limit === null) return { text, missing: null };
  const end = Math.min(endOfLine(text, limit.lines), pairStart(text, Math.min(text.length, limit.characters)));
  if (text.slice(end).trim() === "") return { text: text.slice(0, end), missing: null };
  const shown = text.slice(0, end);
  const lines = count(text, "\n") - count(shown, "\n");
  const rest = `${formatNumber(text.length - end)} more characters`;
  return { text: shown, missing: lines > 0 ? `${formatNumber(lines)} more ${lines === 1 ? "line" : "lines"}, ${rest}` : rest };
}

/** Returns the offset of the end of the given number of lines, without the line break. */
function endOfLine(text: string, lines: number): number {
  let at = -1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text.length;
  }
  return at;
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found++;
  return found;
}

function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}
