import type { ToolCallBlock } from "../entry/message.js";
import type { Arguments, TextEdit, Todo } from "../tools/arguments.js";
import type { PriceList } from "./prices.js";

/** The kind of an entry for a reader. `host`: a message that a program added; `edit`: a context edit; `custom`: data of a program. */
export type ViewKind =
  | "user"
  | "assistant"
  | "result"
  | "command"
  | "system"
  | "host"
  | "compaction"
  | "branch-summary"
  | "model"
  | "thinking-level"
  | "edit"
  | "custom"
  | "foreign";

/** The names of an entry. */
export interface ViewTitle {
  readonly kind: ViewKind;
  /** In a list of entries: `user`, `tool result`, `custom message ext.note`. */
  readonly name: string;
  /** In a document: who speaks, or what happens: `User`, `Message: ext.note`, `Compaction`. A result belongs to the `Assistant`. */
  readonly heading: string;
}

/** A fact about an entry, such as its model. */
export interface ViewField {
  readonly name: string;
  readonly value: string | number;
}

/**
 * The content of an entry, or of a reply with its results, for readers. Nothing is cut and nothing is escaped: a writer does both for its
 * medium.
 */
export interface EntryView extends ViewTitle {
  /** In the order in which they are shown. A part can have the same content: `NotePart.inFields`. */
  readonly fields: readonly ViewField[];
  /** In the order of the entry. Texts that are empty are left out. */
  readonly parts: readonly ViewPart[];
  /** Its program does not show it to the user. */
  readonly isHidden: boolean;
}

/** A piece of an entry. A writer has a `case` for each. */
export type ViewPart =
  | MarkdownPart
  | ThinkingPart
  | TextPart
  | CodePart
  | JsonPart
  | AttachmentPart
  | NotePart
  | FactPart
  | SummaryPart
  | CallPart
  | ResultPart;

/** Prose of a person or a model. */
export interface MarkdownPart {
  readonly type: "markdown";
  readonly text: string;
}

/** Thinking of a model. `isHidden`: the provider keeps it secret, so there is nothing to read. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
  readonly isHidden: boolean;
}

/** Output of a program, to be shown verbatim. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** Code in a language, by the extension of its file: a command (`sh`), or the text that a call writes to a file. */
export interface CodePart {
  readonly type: "code";
  readonly purpose: "command" | "written";
  readonly text: string;
  readonly language: string;
  /** The title of the call is the whole text. */
  readonly inTitle: boolean;
}

/** A value that only programs understand. */
export interface JsonPart {
  readonly type: "json";
  readonly value: unknown;
}

/** An image as base64. */
export interface ImagePart {
  readonly type: "image";
  readonly mimeType: string;
  readonly data: string;
  readonly bytes: number;
}

/** A file by its name and type. `bytes`: null if only its URL is stored. */
export interface FilePart {
  readonly type: "file";
  readonly description: string;
  readonly bytes: number | null;
}

/** A block of an unknown type. */
export interface ForeignPart {
  readonly type: "foreign";
  readonly name: string;
  readonly value: unknown;
}

/** A block that is neither text nor made for replies alone. */
export type AttachmentPart = ImagePart | FilePart | ForeignPart;

/** A sentence about an entry, for a reader who does not see its fields. */
export interface NotePart {
  readonly type: "note";
  readonly about: "stopped" | "failed" | "cut" | "cancelled" | "exit-code" | "truncated" | "private";
  readonly text: string;
  /** The error of a reply, as its provider wrote it. */
  readonly detail?: string | undefined;
  /** True if a field has the same content. */
  readonly inFields: boolean;
}

/** The content of an entry that consists of one statement, such as the model from here on. */
export interface FactPart {
  readonly type: "fact";
  readonly name: string;
  readonly value: string;
}

/** The text of a compaction or branch summary. */
export interface SummaryPart {
  readonly type: "summary";
  readonly of: "conversation" | "branch";
  /** For people: without notes for the model and lists of files. */
  readonly text: string;
  /** As the model gets it. */
  readonly stored: string;
  readonly modifiedFiles: readonly string[];
  readonly readFiles: readonly string[];
  /** Tokens of the context before and after a compaction. */
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
  /** The end of the branch that a branch summary describes. */
  readonly fromId: string | null;
}

/** A tool call. `input` is what is drawn in a form of its own, `titled` and `rest` are the other arguments. */
export interface CallPart {
  readonly type: "call";
  /** The call as stored, for writers that show every argument. */
  readonly call: ToolCallBlock;
  readonly name: string;
  /** One line of what the call does, see `describeCall`. */
  readonly detail: string;
  readonly input: readonly CallInput[];
  /** Arguments that `detail` contains. A writer that cuts the detail shows them as well. */
  readonly titled: Arguments;
  /** Arguments that nothing else shows; empty texts are left out. */
  readonly rest: Arguments;
  /** null: there is none, or the view is of an entry alone. */
  readonly result: ResultPart | null;
  /** The reply was completed, and no result was recorded. */
  readonly isMissing: boolean;
}

/** The action of a call, in a form of its own. */
export type CallInput =
  | { readonly type: "todos"; readonly todos: readonly Todo[] }
  | { readonly type: "diff"; readonly edits: readonly TextEdit[]; readonly isList: boolean }
  | { readonly type: "patch"; readonly text: string }
  | CodePart;

/** The result of a call. */
export interface ResultPart {
  readonly type: "result";
  /** The name of the tool, or `a tool`. */
  readonly name: string;
  readonly isError: boolean;
  /** As the model gets it, in the order of its blocks. */
  readonly parts: readonly (TextPart | AttachmentPart)[];
  /** The texts as the tool wrote them, joined: without the line numbers and the reminders that an agent added for the model. */
  readonly output: string;
  /** The number of reminders that `output` is without. */
  readonly reminders: number;
  /** Of the file that the call read, by its extension; "" if the output is no file. */
  readonly language: string;
}

/** Options of a view. */
export interface ViewOptions {
  /** The session's directory: paths in the titles of calls are relative to it. */
  readonly directory?: string | undefined;
  /** Shows a message in which a program stored what a person typed as it is stored, with its tags. */
  readonly asStored?: boolean | undefined;
  /** The prices by which a cost that is not stored is estimated. Default: the table. */
  readonly prices?: PriceList | undefined;
}
