import { Option } from "commander";
import { INSTALL, SHELLS } from "../completion/scripts.js";
import { type CommandRegistry, defineCommand } from "./define.js";

/** Adds the commands that a shell uses: the script of the completion, and the hidden command that answers it. */
export function defineShellCommands(registry: CommandRegistry, topics: readonly string[]): void {
  defineCommand(
    registry,
    "completion <shell>",
    {
      group: "Help",
      summary: "Print the script that completes commands, options, sessions and entries in a shell",
      more: `SHELL is ${SHELLS.join(", ")}. To install it:\n${SHELLS.map((shell) => `\n  ${shell}: ${INSTALL[shell]}`).join("")}\n`,
      examples: [
        ["bough completion bash > bough.bash", "for bash"],
        ["bough completion zsh > _bough", "for zsh, in a folder of $fpath"],
        ["bough completion fish | source", "for fish, until it ends"],
      ],
    },
    async () => (await import("../completion/answer.js")).runCompletion,
  );
  defineAnswer(registry, topics);
}

interface AnswerOptions {
  readonly shell: (typeof SHELLS)[number];
  readonly line?: string;
}

function defineAnswer({ program, io, out }: CommandRegistry, topics: readonly string[]): void {
  program
    .command("__complete [words...]", { hidden: true })
    .addOption(new Option("--shell <shell>").choices(SHELLS).default("bash"))
    .option("--line <line>")
    .action(async (words: readonly string[], { shell, line }: AnswerOptions) => {
      const { answerShell } = await import("../completion/answer.js");
      out.document(await answerShell(program, io, { shell, line, words, topics }));
    });
}
