import type { EntryId, SessionId, Usage } from "@bough/session-core";
import type { Completion } from "../prompt/completion.js";
import type { Editor } from "../prompt/editor.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Size, Step } from "../tui/screen.js";
import type { ShellAction } from "./keys.js";
import type { SlashName } from "./slash-commands.js";

/** What the status line tells. Tokens are those of the next request. */
export interface Status {
  readonly title: string;
  /** Entries on the path. */
  readonly depth: number;
  readonly branches: number;
  /** The model that answers; null: the shell is a notebook. */
  readonly model: string | null;
  readonly usedTokens: number | null;
  readonly windowTokens: number;
  /** In US dollars, as far as providers told; null: not at all. */
  readonly costUsd: number | null;
  /** The session is being compacted. */
  readonly background: boolean;
}

/** A reply that is being written. */
interface Reply {
  readonly text: string;
  /** What it does now: thinks, writes, runs a tool. */
  readonly activity: string;
  readonly sinceMs: number;
  readonly isStopping: boolean;
}

/** A tool that waits for the person's word. */
export interface Question {
  readonly id: string;
  readonly name: string;
  readonly lines: readonly Line[];
  /** The call reaches outside of the working folder; it can only be allowed once. */
  readonly isOutside: boolean;
}

/**
 * A question that is seen, and what keys mean for it. `shown`: it has not stood for a moment without a key, and keys go to the
 * prompt; `answerable`: letters answer it; `typing`: keys go to the prompt, where something is typed.
 */
export type AskedQuestion = Question & { readonly phase: "shown" | "answerable" | "typing" };

/** Where the person goes from the shell. `draft` is what was being typed. */
export type ShellResult =
  | { readonly kind: "quit" }
  | { readonly kind: "tree"; readonly draft: string }
  | { readonly kind: "sessions"; readonly draft: string }
  | { readonly kind: "open"; readonly sessionId: SessionId; readonly draft: string }
  | { readonly kind: "new"; readonly title: string | null; readonly draft: string };

/** Everything that the shell's screen depends on. */
export interface ShellModel {
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<ShellAction>;
  readonly nowMs: number;
  readonly editor: Editor;
  /** What was sent before, newest last. */
  readonly history: readonly string[];
  readonly completions: readonly Completion[];
  readonly chosen: number;
  readonly status: Status;
  readonly reply: Reply | null;
  /** Something other than a reply is going on, such as a compaction; null: nothing. */
  readonly work: { readonly text: string; readonly sinceMs: number; readonly isStopping: boolean } | null;
  readonly question: AskedQuestion | null;
  /** Sent lines that are being carried out. The next one waits for their end: it may stand on what they change. */
  readonly running: number;
  /** Lines that were sent meanwhile, as they were typed; they go out one after the other. */
  readonly queue: readonly string[];
  /** Where the person goes once what runs has ended, so that what came is stored; null: nowhere. */
  readonly pendingResult: ShellResult | null;
  readonly notice: { readonly text: string; readonly isError: boolean } | null;
  /** Ctrl-C or Esc was pressed a moment ago, at this time; a second one does more. */
  readonly lastPress: { readonly key: "ctrl+c" | "escape"; readonly atMs: number } | null;
  readonly result: ShellResult | undefined;
}

/** What the shell asks of the world. */
export type ShellEffect =
  | { readonly kind: "open" }
  | { readonly kind: "send"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "stop" }
  /** The person leaves, and these lines did not go out. */
  | { readonly kind: "print-unsent"; readonly texts: readonly string[] }
  /** A question was shown, or a key came too early for it: tell `moment-passed` after a moment from now. */
  | { readonly kind: "start-answer-delay"; readonly id: string }
  | { readonly kind: "answer"; readonly id: string; readonly answer: "yes" | "no" | "always" };

/** A step of the shell. */
export type ShellStep = Step<ShellModel, ShellEffect>;

/** What the world tells the shell. */
export type ShellEvent =
  | { readonly kind: "status"; readonly status: Partial<Status> }
  | { readonly kind: "notice"; readonly text: string; readonly isError: boolean }
  /** The message is on disk. */
  | { readonly kind: "message-stored"; readonly text: string }
  /** It is not; what was typed comes back to the prompt. */
  | { readonly kind: "message-not-stored"; readonly text: string; readonly reason: string }
  | { readonly kind: "reply-started" }
  | { readonly kind: "delta"; readonly text: string; readonly activity: string }
  | { readonly kind: "reply-stored"; readonly entryId: EntryId; readonly usage?: Usage | undefined }
  | { readonly kind: "ask"; readonly question: Question }
  /** The question has stood for a moment, and no key came. */
  | { readonly kind: "answer-delay-passed"; readonly id: string }
  | { readonly kind: "reply-ended" }
  | { readonly kind: "work-started"; readonly text: string }
  | { readonly kind: "work-ended" }
  /** A line that was sent is carried out, well or not. */
  | { readonly kind: "line-done" }
  | { readonly kind: "tick"; readonly nowMs: number }
  | { readonly kind: "leave"; readonly result: ShellResult };
