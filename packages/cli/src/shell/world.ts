import type { Compactor } from "@bough/compaction";
import type { Session, SessionRecord, Store } from "@bough/session-core";
import type { ChatModel } from "../agent/chat-model.js";
import type { Config } from "../config/schema.js";
import type { Io } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import type { StartDelay } from "../terminal/line-reader.js";
import type { ScreenHost } from "../tui/screen.js";
import type { ShellEvent } from "./model.js";

/** What the shell works with. */
export interface ShellWorld {
  readonly store: Store;
  readonly session: Session;
  readonly record: SessionRecord;
  readonly compactor: Compactor;
  readonly io: Io;
  readonly config: Config;
  /** Where the settings are. */
  readonly configPath: string;
  /** The model that answers; null: none, the shell is a notebook. */
  readonly model: ChatModel | null;
  /** Whom to tell when a compaction begins or ends: beside the talk, between turns, or before a request, which then waits for it. */
  readonly onBackground: (listener: (isRunning: boolean) => void) => void;
  /** Another model, by its name. @throws {UsageError} it is named only in part. */
  readonly modelNamed: (name: string) => ChatModel | null;
  /** Erases a chosen model's secrets from this process; a warning where commands could still read them, else null. */
  readonly hideKey: (secrets: readonly string[]) => string | null;
  /** Waits a moment for a question to be seen. Default: 800 ms, in which no key may come. */
  readonly startAnswerDelay?: StartDelay | undefined;
  /** Runs `bough ARGS…` on the same store, and gives back what it printed. Never throws. */
  readonly runCommand: (args: readonly string[]) => Promise<CommandOutput>;
}

/** What a command printed: its answer, and what it said beside it. */
export interface CommandOutput {
  readonly lines: readonly Line[];
  readonly notes: readonly Line[];
  readonly exit: number;
}

/** The shell's screen, as its work sees it. */
export type ShellHost = ScreenHost<ShellEvent>;
