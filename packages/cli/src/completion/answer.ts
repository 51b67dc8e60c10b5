import type { Command as Commander } from "commander";
import type { Command } from "../commands/command.js";
import { UsageError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { type Completion, complete, namedStore } from "./candidates.js";
import { quoteForBash, splitLine } from "./command-line.js";
import { FILES, SCRIPTS, SHELLS, type Shell } from "./scripts.js";
import { storeNames } from "./store-names.js";

/** `bough completion SHELL`: prints the script that completes words in a shell. */
export const runCompletion: Command = async ({ out, args: [shell] }) => {
  const found = SHELLS.find((name) => name === shell);
  if (found === undefined) throw new UsageError(`There is a script for ${SHELLS.join(", ")}. Name one of them.`);
  out.document(SCRIPTS[found]);
};

/** The request of a shell: the line up to the cursor (bash), or the words after `bough`; the last word is at the cursor. */
export interface CompletionQuestion {
  readonly shell: Shell;
  readonly line?: string | undefined;
  readonly words: readonly string[];
  /** The topics of `bough help`. */
  readonly topics: readonly string[];
}

/**
 * Answers a shell, one candidate in each line. For bash the first line is the word as it was typed, and the candidates are quoted; for the
 * others a description follows a tab. A question that cannot be answered has an empty answer: a message would end up in the command line.
 */
export async function answerShell(program: Commander, io: Io, question: CompletionQuestion): Promise<string> {
  try {
    const line = question.line === undefined ? undefined : splitLine(question.line);
    const before = line === undefined ? question.words.slice(0, -1) : line.before.slice(1);
    const current = line?.current ?? question.words.at(-1) ?? "";
    const completion = await complete(program, before, current, { topics: question.topics, ...storeNames(io, namedStore(before)) });
    if (completion === FILES) return `${FILES}\n`;
    return line === undefined
      ? describedLines(completion)
      : [line.raw, ...bashWords(completion, line.quote)].map((one) => `${one}\n`).join("");
  } catch {
    // No store, a store of another version, an ambiguous session: nothing to offer.
    return "";
  }
}

function bashWords(completion: Exclude<Completion, string>, quote: "" | "'" | '"'): readonly string[] {
  return completion.map(({ value }) => quoteForBash(oneLine(value), quote));
}

function describedLines(completion: Exclude<Completion, string>): string {
  return completion.map(({ value, description }) => `${oneLine(value)}\t${oneLine(description)}\n`).join("");
}

function oneLine(text: string): string {
  return safe(text.replace(/[\t\r\n]+/g, " "));
}
