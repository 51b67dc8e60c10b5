import type { ToolCallBlock } from "@bough/session-core";

/** What a person asked, and where. */
export interface Request {
  readonly text: string;
  readonly at: number;
  /** The model was still at work: mostly a correction. */
  readonly interrupts: boolean;
  /** The question that the model had asked last; null: it had asked none. */
  readonly question: string | null;
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
  /** What its output says came of it: "14 passed", "commit 45ffe0a"; null: nothing of the kind. */
  readonly result: string | null;
}

/** A reply that calls nothing. */
export interface Ending {
  readonly text: string;
  readonly at: number;
  /** Calls before it that changed or ran something; 0 where the last run of a command went wrong, or nothing was done: what it says is not backed. */
  readonly work: number;
}

/** What the model said beside calls. */
export interface Remark {
  readonly text: string;
  readonly at: number;
  /** One of the calls changed or ran something, and did not fail: what was said was also done. */
  readonly carriedOut: boolean;
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

/** A short answer to a question. */
export interface Answer {
  readonly text: string;
  readonly at: number;
  readonly question: string;
}

/** One thing of a list that an agent keeps of its work. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
}

/** A conversation as an extract looks at it. */
export interface Story {
  readonly turns: readonly Turn[];
  /** What the model said last, answers to "thanks" left out. */
  readonly lastSaid: string | null;
  /** What it said beside calls, in order. */
  readonly remarks: readonly Remark[];
  /** What the person answered in a word to what the model asked: "yes" and its like. */
  readonly answers: readonly Answer[];
  /** The latest list. */
  readonly todos: readonly Todo[];
  /** The summary that the messages start with, where one stands there instead of in the source. */
  readonly before: string | null;
  /** Other summaries among the messages, in order: of branches mostly. */
  readonly summaries: readonly string[];
}
