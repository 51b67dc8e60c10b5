import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DemoFailedError } from "../errors.js";
import { EXIT_OK } from "../exit-codes.js";
import { styled } from "../terminal/line.js";
import type { Command, Invocation } from "./command.js";

// The same path from here and from the bundle's chunks, `dist/chunks`.
const SAMPLE = fileURLToPath(new URL("../../demo/sample.jsonl", import.meta.url));
const SESSION = "demo-lexer-tabs";

/** What is worth trying next, on the store that was made. */
const NEXT = [
  `tree ${SESSION} --interactive`,
  `tree ${SESSION} --all --time`,
  `show ${SESSION} "regex: too slow"`,
  'search "form feed"',
  `go ${SESSION} "two ways"`,
  `undo ${SESSION}`,
  `context ${SESSION} --brief --window 2000`,
  `compact ${SESSION} --keep 100`,
  `checkpoints ${SESSION}`,
  `export ${SESSION} --tool-output full`,
];

/** `bough demo`: imports the sample session that comes with the command, shows it, and says what to type next. */
export const runDemo: Command = async (invocation) => {
  const { io, out, options } = invocation;
  const store =
    options.store === undefined ? join(mkdtempSync(join(tmpdir(), "bough-demo-")), "sessions.db") : resolve(io.cwd, options.store);
  out.line(options.store === undefined ? `A throw-away store: ${store}` : `The store: ${store}`);
  await runShown(invocation, store, "import", SAMPLE);
  await runShown(invocation, store, "tree", SESSION);
  await runShown(invocation, store, "context", SESSION);
  out.line();
  out.line("The store is still there. Type next:");
  out.line();
  out.line(`  export BOUGH_STORE=${quoteForShell(store)}`);
  for (const line of NEXT) out.line(`  bough ${line}`);
  out.line("  bough help");
  if (options.store !== undefined) return;
  out.line();
  out.line(`When you are done: unset BOUGH_STORE; rm -r ${quoteForShell(dirname(store))}`);
};

function quoteForShell(path: string): string {
  return /^[\w/.:-]+$/.test(path) ? path : `"${path}"`;
}

/** Runs another command as a person would type it, with its output where a person would see it. */
async function runShown({ io, out }: Invocation, store: string, ...args: readonly string[]): Promise<void> {
  out.line();
  out.line(styled("dim", `$ bough ${args.join(" ")}`));
  out.line();
  await out.flush();
  const exit = await io.bough([...args, "--store", store], io);
  if (exit !== EXIT_OK)
    throw new DemoFailedError(`bough ${args[0] ?? ""} ended with ${exit}. Nothing else was done; the store is ${store}.`);
}
