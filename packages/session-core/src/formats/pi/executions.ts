import { type JsonObject, without } from "../../source/narrow.js";

const FLAGS = ["cancelled", "truncated", "excludeFromContext"];

/** A command that the person ran; undefined when it says no command. */
export function executionOf(message: JsonObject): JsonObject | undefined {
  const { command, output, exitCode } = message;
  if (typeof command !== "string") return undefined;
  const flags = FLAGS.filter((key) => message[key] !== undefined).map((key) => [key, Boolean(message[key])] as const);
  const plain = exitCode === null || typeof exitCode === "number" ? message : without(message, ["exitCode"]);
  return { ...plain, ...Object.fromEntries(flags), output: typeof output === "string" ? output : "" };
}

/** oh-my-pi's Python cell: an execution whose command is the code. */
export function pythonExecutionOf(message: JsonObject): JsonObject | undefined {
  return executionOf({ ...without(message, ["code"]), role: "bashExecution", command: message.code, language: "python" });
}
