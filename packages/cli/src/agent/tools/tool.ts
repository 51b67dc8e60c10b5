import type { RecallTool } from "@bough/compaction";
import { errorCode } from "@bough/session-core/engine";

/** The outcome of a tool call. Failures are outcomes, too: the model reads their text. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
}

/** The environment of a tool call. */
export interface ToolContext {
  /** The working directory of relative paths and commands. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The `path` of the call with symbolic links resolved, as it was checked and allowed; null: the call has no path. */
  readonly target: string | null;
}

/** The arguments of a call, as the model sent them. */
export type ToolInput = Readonly<Record<string, unknown>>;

const FILE_TOOLS = ["read", "write", "edit", "bash"] as const;
/** The names of the tools that work on files and commands. The user confirms their calls. */
export type FileToolName = (typeof FILE_TOOLS)[number];
/** The names of all tools. */
export type ToolName = FileToolName | RecallTool["name"];

/** True if the tool works on files or commands. */
export function isFileTool(name: ToolName): name is FileToolName {
  return FILE_TOOLS.some((one) => one === name);
}

/** A tool: its description for the model, and its implementation. */
export interface Tool {
  readonly name: ToolName;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly run: (input: ToolInput, place: ToolContext) => Promise<ToolOutcome>;
}

/** A failure that the model can correct; its message is the text of the outcome. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/** Runs `work` and turns its failure into an outcome. */
export async function toOutcome(work: () => Promise<string>): Promise<ToolOutcome> {
  try {
    return { text: await work(), isError: false };
  } catch (error) {
    // Errors of the file system have a code; any other error is a bug.
    if (error instanceof ToolFailure || (error instanceof Error && errorCode(error) !== undefined))
      return { text: error.message, isError: true };
    throw error;
  }
}

/** A string argument. @throws {ToolFailure} it is missing or no string. */
export function requireText(input: ToolInput, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new ToolFailure(`The argument ${name} is missing or not a string. Call again with all arguments.`);
  return value;
}

/** The resolved path of a call. @throws {ToolFailure} it has no path. */
export function requireTarget(input: ToolInput, { target }: ToolContext): string {
  requireText(input, "path");
  if (target === null) throw new ToolFailure("The path could not be checked; nothing was read or written.");
  return target;
}

/**
 * Returns an integer argument of at least 1; undefined: it is missing. Small models send numbers as strings.
 *
 * @throws {ToolFailure} it is another value.
 */
export function readNumber(input: ToolInput, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1)
    throw new ToolFailure(`The argument ${name} must be an integer of at least 1.`);
  return number;
}
