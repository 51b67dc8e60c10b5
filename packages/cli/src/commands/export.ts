import { resolve } from "node:path";
import { exportBough, exportMarkdown, exportPi, type SecretCount, type Session } from "@bough/session-core";
import { describeSecrets } from "@bough/session-core/internals";
import { UsageError } from "../errors.js";
import { pageMasks } from "../page/masks.js";
import { sessionPage } from "../page/page.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safeJson } from "../terminal/safe.js";
import { type Command, type CommonOptions, requireArgument } from "./command.js";

/** The export formats. */
export type ExportFormat = "markdown" | "html" | "bough" | "pi";

interface ExportOptions extends CommonOptions {
  readonly format: ExportFormat;
  readonly output?: string;
  /** The same as `--format html --output FILE`. */
  readonly html?: string;
  readonly force?: boolean;
  readonly branch?: string;
  readonly toolOutput?: "none" | "short" | "full";
  readonly thinking?: boolean;
  readonly private?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly withSecrets?: boolean;
}

/** `bough export`: writes a session or one of its branches to stdout or a file. */
export const runExport: Command<ExportOptions> = async ({ io, out, args, options: given }) => {
  const options: ExportOptions = given.html === undefined ? given : { ...given, format: "html", output: given.html };
  checkOptions(options);
  await withStore(io, options.store, "read", async (store) => {
    const { session } = await chooseSession(store, io, out, args[0], "store");
    await checkRange(session, options);
    const masked: SecretCount[] = [];
    const pieces = await exportPieces(session, options, (counts) => masked.push(...counts));
    if (options.output === undefined || options.output === "-") await printPieces(io, out, pieces, options.format);
    else {
      const path = resolve(io.cwd, requireArgument(options.output));
      await writeNewFile(io, path, pieces, options.force === true);
      await out.note(styled("dim", `written to ${path}`));
    }
    if (masked.length > 0) await out.note(styled("dim", `${describeSecrets(masked, "masked")} (--with-secrets keeps them)`));
  });
};

async function checkRange(session: Session, { from, to }: ExportOptions): Promise<void> {
  if (from === undefined || to === undefined) return;
  const [first, last] = [await session.resolve(from), await session.resolve(to)];
  if ((await session.tree.commonAncestor(first, last)) !== first) throw new UsageError(`--from ${from} is not on the path of --to ${to}.`);
}

function checkOptions(options: ExportOptions): void {
  const { format, branch, toolOutput, thinking, from, to, force, output } = options;
  if (format !== "markdown" && (from ?? to) !== undefined)
    throw new UsageError(`--from and --to need --format markdown; ${format} exports the whole branch.`);
  if (format !== "markdown" && format !== "html" && (toolOutput ?? thinking) !== undefined)
    throw new UsageError(`--tool-output and --thinking need --format markdown or html; ${format} exports everything.`);
  if (format !== "html" && options.private === true) throw new UsageError("--private needs --html FILE.");
  if (format === "bough" && branch !== undefined)
    throw new UsageError(
      "--format bough exports every branch. To export one branch, fork it (bough fork SESSION --at ENTRY) and export the fork.",
    );
  if (force === true && output === undefined) throw new UsageError("--force needs --output FILE.");
}

type OnMasked = (counts: readonly SecretCount[]) => void;

async function exportPieces(session: Session, options: ExportOptions, onMasked: OnMasked): Promise<AsyncIterable<string>> {
  const entry = async (name: string | undefined) => (name === undefined ? undefined : session.resolve(name));
  const branch = await entry(options.branch);
  const secrets = options.withSecrets === true ? ("keep" as const) : ("mask" as const);
  switch (options.format) {
    case "bough":
      return exportBough(session, { secrets, onMasked });
    case "pi":
      return exportPi(session, { branch, secrets, onMasked });
    case "html":
      return sessionPage(session, {
        ...(await pageMasks(session, options.withSecrets === true, onMasked)),
        private: options.private === true,
        ...(branch === undefined ? {} : { leafId: branch, branchOnly: true }),
        ...(options.toolOutput === undefined ? {} : { toolOutput: options.toolOutput }),
        thinking: options.thinking === true,
      });
    case "markdown": {
      const [from, to] = [await entry(options.from), await entry(options.to)];
      const { toolOutput, thinking } = options;
      return exportMarkdown(session, { branch, from, to, toolOutput, thinking, secrets, onMasked });
    }
  }
}

async function printPieces(io: Io, out: Printer, pieces: AsyncIterable<string>, format: ExportFormat): Promise<void> {
  // Markdown is exported without control characters. In JSON, control characters are escaped for a terminal; the value is the same.
  const protect = io.stdout.isTerminal && format !== "markdown" ? safeJson : (text: string) => text;
  for await (const piece of pieces) {
    out.document(protect(piece));
    await out.pump();
  }
}
