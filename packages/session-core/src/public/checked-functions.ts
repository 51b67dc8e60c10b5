import { checked, TEXT } from "../arguments/rules.js";
import { MESSAGE, MESSAGE_CONTENT, PAYLOAD, TOOL_CALL } from "../arguments/shapes.js";
import * as templates from "../context/converters/templates.js";
import * as preview from "../entry/preview.js";
import * as text from "../entry/text.js";
import * as line from "../text/one-line.js";

// What this package uses itself is checked only where others call it: arguments from outside may be anything, while what
// comes from the store has passed the gate, and a check there would make one damaged row an error of the whole store.

/**
 * The text blocks of a content, joined by line breaks; everything else is left out.
 *
 * @throws {InvalidArgumentError} no content.
 */
export const textOf = checked(text.textOf, ["content", MESSAGE_CONTENT]);

/**
 * What a search looks at in an entry: texts, thoughts, the arguments of tool calls, tool output, commands, summaries
 * and their file lists. Never images, ids, or what only hosts read (`details`, `custom` data, foreign records).
 *
 * @throws {InvalidArgumentError} no payload.
 */
export const searchableText = checked(text.searchableText, ["payload", PAYLOAD]);

/**
 * One line that says what an entry is about: its first words, or its tool calls as `[read src/a.ts]`.
 *
 * @throws {InvalidArgumentError} no payload.
 */
export const previewOf = checked(preview.previewOf, ["payload", PAYLOAD]);

/**
 * A tool call in a few words: its name and its most telling argument, at most 60 code units.
 *
 * @throws {InvalidArgumentError} no tool call.
 */
export const callPreview = checked(preview.callPreview, ["call", TOOL_CALL]);

/**
 * Text on one line, at most 160 code units; runs of white space and control characters become one space.
 *
 * @throws {InvalidArgumentError} no text.
 */
export const oneLine = checked((text: string) => line.oneLine(text), ["text", TEXT]);

/** How a model reads the summary of a compaction. @throws {InvalidArgumentError} no text. */
export const compactionSummaryText = checked(templates.compactionSummaryText, ["summary", TEXT]);

/** How a model reads the summary of a branch that was left. @throws {InvalidArgumentError} no text. */
export const branchSummaryText = checked(templates.branchSummaryText, ["summary", TEXT]);

/**
 * How a model reads a command that the person ran.
 *
 * @throws {InvalidArgumentError} no message.
 * @example
 * bashExecutionText({ role: "bashExecution", command: "false", output: "", exitCode: 1 });
 * // "Ran `false`\n(no output)\n\nCommand exited with code 1"
 */
export const bashExecutionText = checked(templates.bashExecutionText, ["message", MESSAGE]);
