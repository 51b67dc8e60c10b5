import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "../errors.js";
import { EXIT_OK } from "../exit-codes.js";
import { withStore } from "../session/open-store.js";
import type { StoreLocation } from "../session/store-location.js";
import { createTemporaryFolder } from "../session/write-file.js";
import { styled } from "../terminal/line.js";
import type { Command, Invocation } from "./command.js";

// The path is the same relative to this file and to `dist/chunks`, which contains the bundled code.
const SAMPLE = fileURLToPath(new URL("../../demo/sample.jsonl", import.meta.url));
const SESSION = "demo-lexer-tabs";

/** Commands to try on the demo store. */
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

/** `bough demo`: imports the bundled sample session, prints it, and lists commands to try. */
export const runDemo: Command = async (invocation) => {
  const { io, out, options } = invocation;
  const isTemporary = options.store === undefined;
  const given = options.store ?? join(await createTemporaryFolder("demo"), "sessions.db");
  // A store that cannot be opened ends the demo with that error, before it runs a command.
  const store = await withStore(io, given, "create", async (_, location) => location);
  out.line(`${isTemporary ? "Temporary store" : "Store"}: ${store.name}`);
  await runShown(invocation, store, "import", SAMPLE);
  await runShown(invocation, store, "tree", SESSION);
  await runShown(invocation, store, "context", SESSION);
  out.line();
  out.line("The store still exists. Try next:");
  out.line();
  out.line(`  export BOUGH_STORE=${quoteForShell(store.name)}`);
  for (const line of NEXT) out.line(`  bough ${line}`);
  out.line("  bough help");
  if (!isTemporary) return;
  out.line();
  out.line(`To clean up: unset BOUGH_STORE; rm -r ${quoteForShell(dirname(store.address))}`);
};

function quoteForShell(path: string): string {
  return /^[\w/.:@-]+$/.test(path) ? path : `"${path}"`;
}

/** Prints a command line, then runs it with the same output streams. */
async function runShown({ io, out }: Invocation, { address, name }: StoreLocation, ...args: readonly string[]): Promise<void> {
  out.line();
  out.line(styled("dim", `$ bough ${args.join(" ")}`));
  out.line();
  await out.flush();
  const exit = await io.bough([...args, "--store", address], { ...io, pagerTerminal: undefined });
  if (exit !== EXIT_OK)
    throw new CommandError("DEMO_FAILED", `bough ${args[0] ?? ""} exited with ${exit}; the demo stopped. The store is ${name}.`);
}
