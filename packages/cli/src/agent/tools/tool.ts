/** What a tool did. It never throws: what went wrong is a result that the model reads. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
}

/** What a tool runs in. */
export interface ToolContext {
  /** Relative paths start here, and so do commands. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Where the call's `path` leads, links followed, as it was checked and allowed; null: it names none. */
  readonly target: string | null;
}

/** A tool's arguments, as the model gave them. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** The tools that a model can be given. */
export type ToolName = "read" | "write" | "edit" | "bash";

/** A tool: what the model is told of it, and what it does. */
export interface Tool {
  readonly name: ToolName;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: JsonSchema;
  readonly run: (input: ToolInput, place: ToolContext) => Promise<ToolOutcome>;
}

/** As much of JSON Schema as the tools need. */
export interface JsonSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, { readonly type: "string" | "integer"; readonly description: string }>>;
  readonly required: readonly string[];
}

/** Something that the model is told, and can do better with. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/** Runs a tool's work; what fails in it is the result. */
export async function toOutcome(work: () => Promise<string>): Promise<ToolOutcome> {
  try {
    return { text: await work(), isError: false };
  } catch (error) {
    // Everything that touching files can throw has a code; anything else is a fault of ours.
    if (error instanceof ToolFailure || isSystemError(error)) return { text: error.message, isError: true };
    throw error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

/** A text argument. @throws {ToolFailure} it is missing or of another type. */
export function requireText(input: ToolInput, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new ToolFailure(`The argument ${name} is missing or no text. Call again with all arguments.`);
  return value;
}

/** Where the call's `path` leads. @throws {ToolFailure} it names none. */
export function requireTarget(input: ToolInput, { target }: ToolContext): string {
  requireText(input, "path");
  if (target === null) throw new ToolFailure("The path could not be checked; nothing was read or written.");
  return target;
}

/** A whole number from 1 up; undefined: it was left out. Small models send numbers as texts. @throws {ToolFailure} */
export function readNumber(input: ToolInput, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1)
    throw new ToolFailure(`The argument ${name} must be a whole number from 1 up.`);
  return number;
}
