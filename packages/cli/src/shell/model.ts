import type { SessionId } from "@bough/session-core";
import type { Cost } from "@bough/session-core/view";
import type { Completion } from "../prompt/completion.js";
import type { Editor } from "../prompt/editor.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Size, Step } from "../tui/screen.js";
import type { ShellAction } from "./keys.js";
import type { SlashName } from "./slash-commands.js";

/** Contents of the status line. `usedTokens` counts the next request. */
export interface Status {
  readonly title: string;
  /** Entries on the path. */
  readonly depth: number;
  readonly branches: number;
  /** null: no model is configured, and the shell only stores messages (a notebook). */
  readonly model: string | null;
  readonly usedTokens: number | null;
  readonly windowTokens: number;
  /** US dollars, as reported by providers; null if none was reported. */
  readonly cost: Cost | null;
  /** True while a compaction is running. */
  readonly background: boolean;
  /** True while another program writes the next reply of the session, which is not in the store yet. */
  readonly isHeld: boolean;
}

/** A reply in progress. */
interface Reply {
  readonly text: string;
  /** For example "thinking" or "running bash". */
  readonly activity: string;
  readonly sinceMs: number;
  readonly isStopping: boolean;
}

/** A tool call that needs permission. */
export interface Question {
  readonly id: string;
  readonly name: string;
  readonly lines: readonly Line[];
  /** The call reaches outside the working directory; it can be allowed only once, not always. */
  readonly isOutside: boolean;
}

/**
 * The question on the screen. `shown`: keys go to the prompt until no key came for a moment, so that typing ahead cannot answer;
 * `answerable`: letters answer it; `typing`: keys go to the prompt, because it has text.
 */
export type AskedQuestion = Question & { readonly phase: "shown" | "answerable" | "typing" };

/** The result that closes the shell. `draft` is the text of the prompt. */
export type ShellResult =
  | { readonly kind: "quit" }
  | { readonly kind: "tree"; readonly draft: string }
  | { readonly kind: "sessions"; readonly draft: string }
  | { readonly kind: "open"; readonly sessionId: SessionId; readonly draft: string; readonly notice: string }
  | { readonly kind: "new"; readonly title: string | null; readonly draft: string };

/** The state of the shell; the view is a function of it. */
export interface ShellModel {
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<ShellAction>;
  readonly nowMs: number;
  readonly editor: Editor;
  /** Sent prompts, newest last. */
  readonly history: readonly string[];
  readonly completions: readonly Completion[];
  readonly chosen: number;
  readonly status: Status;
  readonly reply: Reply | null;
  /** Work other than a reply, such as a compaction; null: none. */
  readonly work: { readonly text: string; readonly sinceMs: number; readonly isStopping: boolean } | null;
  readonly question: AskedQuestion | null;
  /** Sent lines whose effects are running. Further lines wait, because they may depend on them. */
  readonly running: number;
  /** Lines sent meanwhile, as typed; they are sent one after the other. */
  readonly queue: readonly string[];
  /** The result once running work has ended and is stored; null: the shell stays open. */
  readonly pendingResult: ShellResult | null;
  readonly notice: { readonly text: string; readonly isError: boolean } | null;
  /** The last Ctrl-C or Esc; pressing it again soon leaves the shell. */
  readonly lastPress: { readonly key: "ctrl+c" | "escape"; readonly atMs: number } | null;
  readonly result: ShellResult | undefined;
}

/** Effects of the shell. */
export type ShellEffect =
  | { readonly kind: "open" }
  | { readonly kind: "send"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "stop" }
  /** Prints queued lines that were not sent when the user quits. */
  | { readonly kind: "print-unsent"; readonly texts: readonly string[] }
  /** Starts, or restarts, the delay after which `answer-delay-passed` is dispatched. */
  | { readonly kind: "start-answer-delay"; readonly id: string }
  | { readonly kind: "answer"; readonly id: string; readonly answer: "yes" | "no" | "always" };

/** A step of the shell. */
export type ShellStep = Step<ShellModel, ShellEffect>;

/** Results of effects. */
export type ShellEvent =
  | { readonly kind: "status"; readonly status: Partial<Status> }
  | { readonly kind: "notice"; readonly text: string; readonly isError: boolean }
  /** The message could not be stored; its text returns to the prompt. */
  | { readonly kind: "message-not-stored"; readonly text: string; readonly reason: string }
  | { readonly kind: "reply-started" }
  | { readonly kind: "delta"; readonly text: string; readonly activity: string; readonly isRetry?: boolean }
  | { readonly kind: "reply-stored" }
  | { readonly kind: "ask"; readonly question: Question }
  /** No key came for a moment after the question was shown. */
  | { readonly kind: "answer-delay-passed"; readonly id: string }
  | { readonly kind: "reply-ended" }
  | { readonly kind: "work-started"; readonly text: string }
  | { readonly kind: "work-ended" }
  /** The effect of a sent line has ended, successfully or not. */
  | { readonly kind: "line-done" }
  | { readonly kind: "tick"; readonly nowMs: number }
  | { readonly kind: "leave"; readonly result: ShellResult };
