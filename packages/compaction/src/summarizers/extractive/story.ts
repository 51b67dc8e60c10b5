import type { ToolCallBlock } from "@bough/session-core";

/** What a person asked, and where. */
export interface Request {
  readonly text: string;
  readonly at: number;
}

/** What came of one tool call or command. */
export interface Outcome {
  readonly at: number;
  readonly call: ToolCallBlock | null;
  /** A command without its looking and filtering; null: none was run, or it only looked. */
  readonly command: string | null;
  readonly failed: boolean;
  /** The lines that tell why. */
  readonly errors: readonly string[];
  /** The number of tests that passed, as the output says it. */
  readonly passed: string | null;
}

/** A reply that calls nothing. */
export interface Ending {
  readonly text: string;
  readonly at: number;
}

/** From what a person said to what they said next. */
export interface Turn {
  readonly request: Request | null;
  /** What the model said last in it, and whether it called no tool with it. */
  readonly reply: { readonly text: string; readonly ends: boolean } | null;
  /** The replies with which it stopped, each before the person said "continue", "thanks" or nothing more. */
  readonly endings: readonly Ending[];
  readonly outcomes: readonly Outcome[];
}

/** One thing of a list that an agent keeps of its work. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
}

/** A conversation as an extract looks at it. */
export interface Story {
  readonly turns: readonly Turn[];
  /** All that the model said, in order. */
  readonly said: readonly string[];
  /** The latest list. */
  readonly todos: readonly Todo[];
  /** The summary that the messages start with, where one stands there instead of in the source. */
  readonly before: string | null;
  /** Other summaries among the messages, in order: of branches mostly. */
  readonly summaries: readonly string[];
}
