import { InvalidArgumentError } from "commander";
import { type CommandRegistry, defineCommand } from "./define.js";
import { parseWholeNumber } from "./options.js";

/** Adds `bough view`. */
export function defineViewCommand(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "view [session]",
    {
      group: "Read",
      summary: "Show a session, or all of them, in a browser",
      more:
        "Serves read-only pages on 127.0.0.1, under an address that nobody can guess, and opens it in the browser ($BROWSER, or that of the " +
        "desktop). Without SESSION: a list of all sessions. A reload shows new entries. Secrets are masked, and commands kept out of the " +
        "conversation are left out. Ctrl+C stops it.",
      examples: [
        ["bough view", "all sessions"],
        ["bough view parser", "one session"],
        ["bough view parser --no-open --port 8080", "prints the address only"],
      ],
      json: "{ address }",
    },
    async () => (await import("../commands/view.js")).runView,
  )
    .option("--no-open", "do not open a browser")
    .option("--port <n>", "the port (default: any that is free)", parsePort, 0)
    .option("--idle <minutes>", "stop after so many minutes without a request; 0: never", parseWholeNumber, 60)
    .option("--thinking", "include the thinking of the model")
    .option("--private", "also commands kept out of the conversation")
    .option("--with-secrets", "do not mask keys, tokens and passwords");
}

function parsePort(text: string): number {
  const port = parseWholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError("It must be at most 65535.");
  return port;
}
