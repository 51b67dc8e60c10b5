import { type RanCommand, runCommand } from "./run-command.js";
import { numberOf, outcomeOf, type Tool, type ToolOutcome, textOf } from "./tool.js";

/** A command may take so long where the model names no other time, in seconds. */
const DEFAULT_SECONDS = 120;
/** However long the model would wait. */
const MAX_SECONDS = 3_600;

/** Runs a command in a shell. */
export const BASH: Tool = {
  name: "bash",
  description: "Run a command with bash in the working folder. Answers with its output and, if it failed, its exit code.",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command. Nobody is there to answer questions of it." },
      timeout: { type: "integer", description: `Seconds after which it is stopped; default ${DEFAULT_SECONDS}.` },
    },
    required: ["command"],
  },
  run: async (input, { cwd, env, signal }): Promise<ToolOutcome> => {
    let ran: RanCommand | undefined;
    const said = await outcomeOf(async () => {
      const seconds = Math.min(numberOf(input, "timeout") ?? DEFAULT_SECONDS, MAX_SECONDS);
      ran = await runCommand(textOf(input, "command"), { cwd, env, signal, seconds });
      return ran.output;
    });
    return ran === undefined ? said : told(ran);
  },
};

function told({ output, end }: RanCommand): ToolOutcome {
  const text = output.trimEnd();
  const under = (line: string): string => (text === "" ? line : `${text}\n${line}`);
  switch (end.kind) {
    case "exit":
      return end.code === 0
        ? { text: text === "" ? "[no output]" : text, isError: false }
        : { text: under(`[exit code ${end.code}]`), isError: true };
    case "signal":
      return { text: under(`[ended by ${end.signal}]`), isError: true };
    case "timeout":
      return { text: under(`[stopped after ${end.seconds} s]`), isError: true };
    case "stopped":
      return { text: under("[stopped by the person]"), isError: true };
  }
}
