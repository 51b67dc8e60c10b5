import type { Compactor } from "@bough/compaction";
import type { Session, SessionRecord, Store } from "@bough/session-core";
import type { ChatModel } from "../agent/chat-model.js";
import type { Config } from "../config/schema.js";
import type { Io } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import type { StartDelay } from "../terminal/line-reader.js";
import type { ScreenHost } from "../tui/screen.js";
import type { ShellEvent } from "./model.js";

/** The objects that the shell operates on. */
export interface ShellWorld {
  readonly store: Store;
  readonly session: Session;
  readonly record: SessionRecord;
  readonly compactor: Compactor;
  readonly io: Io;
  readonly config: Config;
  /** The path of the config file. */
  readonly configPath: string;
  /** null: no model is configured; the shell only stores messages. */
  readonly model: ChatModel | null;
  /** Registers a listener that is called when a compaction starts and ends: in the background, after a turn, or before a request. */
  readonly onBackground: (listener: (isRunning: boolean) => void) => void;
  /** Switches to a model. @throws {UsageError} the model needs more settings. */
  readonly selectModel: (name: string) => ChatModel | null;
  /** Removes the secrets of a model from the environment of this process. Returns a warning if commands can still read them. */
  readonly hideKey: (secrets: readonly string[]) => string | null;
  /** Starts the delay before a question accepts answers. Default: 800 ms. */
  readonly startAnswerDelay?: StartDelay | undefined;
  /** Runs `bough ARGS…` on the same store and returns its output. Never throws. */
  readonly runCommand: (args: readonly string[]) => Promise<CommandOutput>;
}

/** Columns of the terminal; 80 where there is none. */
export function terminalWidth({ io }: Pick<ShellWorld, "io">): number {
  return io.terminal?.stdout.columns || 80;
}

/** The output of a command: stdout and stderr. */
export interface CommandOutput {
  readonly lines: readonly Line[];
  readonly notes: readonly Line[];
  readonly exit: number;
}

/** The screen of the shell, for effects. */
export type ShellHost = ScreenHost<ShellEvent>;
