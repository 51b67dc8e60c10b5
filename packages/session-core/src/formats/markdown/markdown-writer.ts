import type { Entry } from "../../entry/entry.js";
import type { EntryId, SessionId } from "../../ids/ids.js";
import { pairStart } from "../../text/cut.js";
import { escapeMarkdown, removeInvisible } from "./markdown-text.js";

/** One branch of a session, as it is to be read by a person. */
export interface MarkdownDocument {
  readonly session: {
    readonly id: SessionId;
    readonly title: string | null;
    readonly cwd: string | null;
    /** Milliseconds since 1970. */
    readonly createdAtMs: number;
  };
  /** The model that answers at the end of the branch. */
  readonly model: string | null;
  /** The branch's path, oldest first; read once, and no further than the range goes. */
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly labels: ReadonlyMap<EntryId, string>;
}

/**
 * How much of what tools gave is shown: nothing, the first 20 lines (at most 1,500 characters), or all. With `none`
 * and `short`, what tools were asked is cut too, at 60 lines (6,000 characters).
 */
export type ToolOutput = "none" | "short" | "full";

/** What to show of a branch. */
export interface MarkdownOptions {
  /** Default: `short`. */
  readonly toolOutput?: ToolOutput | undefined;
  /** Whether to show what the model thought. Default: false. */
  readonly thinking?: boolean | undefined;
  /** The first entry to show. Default: the first of the branch. */
  readonly from?: EntryId | undefined;
  /** The last entry to show. Default: the last of the branch. */
  readonly to?: EntryId | undefined;
}

const SHORT_OUTPUT: Limit = { lines: 20, characters: 1500 };
/** What a tool was asked says what was done, so it is given more room than what came back. */
const SHORT_INPUT: Limit = { lines: 60, characters: 6000 };

/** What the parts of a document share while it is written: what is wanted, what was left out, the last heading. */
export class MarkdownWriter {
  readonly toolOutput: ToolOutput;
  readonly thinking: boolean;
  #heading = "";

  readonly omitted: Omissions;

  constructor(options: MarkdownOptions, omitted: Omissions) {
    this.omitted = omitted;

    this.toolOutput = options.toolOutput ?? "short";
    this.thinking = options.thinking ?? false;
  }

  /** A heading for what one speaker says; none where the speaker goes on, so that a long run of calls reads as one. */
  heading(speaker: string, goesOn = false): readonly string[] {
    const repeats = goesOn && this.#heading === speaker;
    this.#heading = speaker;
    return repeats ? [] : [`## ${escapeMarkdown(speaker)}`];
  }

  /** Something stands between: whoever speaks next is named again. */
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

// Each kind of thing a document can leave out, as one and as several.
const NAMES = {
  earlier: ["earlier entry", "earlier entries"],
  thinking: ["thought of the model", "thoughts of the model"],
  output: ["tool output", "tool outputs"],
  shortened: ["shortened text", "shortened texts"],
  image: ["image", "images"],
  block: ["block of an unknown type", "blocks of unknown types"],
  hidden: ["hidden message", "hidden messages"],
  edit: ["context edit", "context edits"],
  custom: ["custom entry", "custom entries"],
  foreign: ["record of another program", "records of another program"],
} as const;

/** A kind of thing that a document leaves out. */
type OmissionKind = keyof typeof NAMES;

/** Counts what a document leaves out, so that its last line can say so (regression R147). */
export class Omissions {
  readonly #counts = new Map<OmissionKind, number>();
  #later = false;

  count(kind: OmissionKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** The document ends before the branch does; how many entries follow is not known, as they are not read. */
  endsEarly(): void {
    this.#later = true;
  }

  /** The last line of the document. */
  line(): string {
    const parts = Object.keys(NAMES).flatMap((kind) => this.#part(kind as OmissionKind));
    if (this.#later) parts.push("everything after the last entry shown");
    return parts.length === 0 ? "*Nothing of this branch was left out.*" : `*Left out of this document: ${parts.join(", ")}.*`;
  }

  #part(kind: OmissionKind): readonly string[] {
    const count = this.#counts.get(kind);
    return count === undefined ? [] : [`${count} ${NAMES[kind][count === 1 ? 0 : 1]}`];
  }
}

/** The most that is shown of a text; `characters` in UTF-16 code units. */
interface Limit {
  readonly lines: number;
  readonly characters: number;
}

/** A text as far as it is shown, and the words that say what is missing. */
interface Clipped {
  readonly text: string;
  /** null: nothing is missing. */
  readonly missing: string | null;
}

/** The start of the text, within the limit (null: none), never ending inside a surrogate pair. */
export function clipText(text: string, limit: Limit | null): Clipped {
  if (limit === null) return { text, missing: null };
  const end = Math.min(endOfLine(text, limit.lines), pairStart(text, Math.min(text.length, limit.characters)));
  if (text.slice(end).trim() === "") return { text: text.slice(0, end), missing: null };
  const shown = text.slice(0, end);
  const lines = count(text, "\n") - count(shown, "\n");
  const rest = `${formatNumber(text.length - end)} more characters`;
  return { text: shown, missing: lines > 0 ? `${formatNumber(lines)} more ${lines === 1 ? "line" : "lines"}, ${rest}` : rest };
}

/** Where the given number of lines ends, without its line break. */
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
