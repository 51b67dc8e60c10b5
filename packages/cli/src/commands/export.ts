import { dirname, resolve } from "node:path";
import { exportBough, exportMarkdown, type MarkdownExportOptions } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { Session, Store } from "@bough/session-core";
import { bytes, counted, type PriceList } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { pageMasks } from "../page/masks.js";
import { sessionPage } from "../page/page.js";
import { AssetFolder } from "../session/asset-folder.js";
import { chooseSession } from "../session/choose-session.js";
import { type ExportFormat, exportFormatOf } from "../session/export-formats.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readPrices } from "../session/prices.js";
import { listSubagents } from "../session/subagents.js";
import { measureNewFile, PRIVATE, writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safeJson } from "../terminal/safe.js";
import { type Command, type CommonOptions, requireArgument } from "./command.js";
import { EXPORTERS } from "./resume.js";

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
  /** True to encrypt the page with a password. */
  readonly password?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly withSecrets?: boolean;
  /** The folder for images of Markdown. */
  readonly assets?: string;
  readonly subagents?: boolean;
  readonly dryRun?: boolean;
}

/** Without a format, the name of the file decides. */
type GivenOptions = Omit<ExportOptions, "format"> & { readonly format?: ExportFormat };

function chosenOptions(given: GivenOptions): ExportOptions {
  if (given.html !== undefined) return { ...given, format: "html", output: given.html };
  return { ...given, format: given.format ?? exportFormatOf(given.output ?? "") ?? "markdown" };
}

/** `bough export`: writes a session or one of its branches to stdout or a file. */
export const runExport: Command<GivenOptions> = async ({ io, out, args, options: given }) => {
  const options = chosenOptions(given);
  checkOptions(options);
  const lock = options.password === true && options.dryRun !== true ? await preparedLock(io) : undefined;
  await withStore(io, options.store, "read", async (store) => {
    const { session } = await chooseSession(store, io, out, args[0], "store");
    await checkRange(out, session, options);
    const masked: SecretCount[] = [];
    const assets =
      options.assets === undefined
        ? undefined
        : new AssetFolder(resolve(io.cwd, options.assets), documentFolder(io, options), options.dryRun === true);
    const plain = await exportPieces(out, session, options, {
      subagents: isForPeople(options) ? await openSubagents(store, session) : [],
      prices: await readPrices(io),
      asset: assets && ((image) => assets.add(image)),
      onMasked: (counts) => masked.push(...counts),
    });
    await writeDocument(io, out, lock === undefined ? plain : lock(plain), options, assets);
    const would = options.dryRun === true ? "would write " : "";
    if (assets !== undefined) await out.note(styled("dim", `${would}${counted(assets.count, "image")} in ${assets.folder}`));
    if (masked.length > 0) await out.note(styled("dim", `${describeSecrets(masked, "masked")} (--with-secrets keeps them)`));
  });
};

/** Writes the document and its images, or, after an error or an interruption, neither. */
async function writeDocument(
  io: Io,
  out: Printer,
  pieces: AsyncIterable<string>,
  options: ExportOptions,
  assets: AssetFolder | undefined,
): Promise<void> {
  if (assets === undefined) return writePieces(io, out, pieces, options);
  const stopWatching = io.onEnd(() => assets.discard());
  try {
    await writePieces(io, out, assets.placedAfter(pieces), options);
  } catch (error) {
    await assets.settled();
    assets.discard();
    throw error;
  } finally {
    stopWatching();
  }
}

async function writePieces(io: Io, out: Printer, pieces: AsyncIterable<string>, options: ExportOptions): Promise<void> {
  if (options.output === undefined || options.output === "-") return printPieces(io, out, pieces, options.format);
  const path = resolve(io.cwd, requireArgument(options.output));
  if (options.dryRun === true) {
    const size = await measureNewFile(path, pieces, options.force === true);
    await out.note(styled("dim", `would write ${bytes(size)} to ${path}`));
  } else {
    await writeNewFile(io, path, pieces, options.force === true, PRIVATE);
    await out.note(styled("dim", `written to ${path}`));
  }
}

/** Reads the password, and returns what encrypts a page with it. */
async function preparedLock(io: Io): Promise<(pieces: AsyncIterable<string>) => AsyncIterable<string>> {
  const { lockedPage, readPagePassword } = await import("../page/locked-page.js");
  const password = await readPagePassword(io);
  return (pieces) => lockedPage(pieces, password);
}

async function checkRange(out: Printer, session: Session, { from, to }: ExportOptions): Promise<void> {
  if (from === undefined || to === undefined) return;
  const [first, last] = [await resolveEntry(session, out, from), await resolveEntry(session, out, to)];
  if ((await session.tree.commonAncestor(first, last)) !== first) throw new UsageError(`--from ${from} is not on the path of --to ${to}.`);
}

function checkOptions(options: ExportOptions): void {
  const { format, branch, toolOutput, thinking, from, to, force, output } = options;
  if (format !== "markdown" && (from ?? to) !== undefined)
    throw new UsageError(`--from and --to need --format markdown; ${format} exports the whole branch.`);
  if (format !== "markdown" && format !== "html" && (toolOutput ?? thinking) !== undefined)
    throw new UsageError(`--tool-output and --thinking need --format markdown or html; ${format} exports everything.`);
  checkDocumentOptions(options);
  const ofPages = (["private", "password"] as const).find((name) => options[name] === true);
  if (format !== "html" && ofPages !== undefined) throw new UsageError(`--${ofPages} needs --format html.`);
  if (format === "bough" && branch !== undefined)
    throw new UsageError(
      "Bough's own JSONL has every branch. To export one branch, fork it (bough fork SESSION --at ENTRY) and export the fork.",
    );
  if (force === true && output === undefined) throw new UsageError("--force needs --output FILE.");
  if (options.dryRun === true && (output === undefined || output === "-"))
    throw new UsageError("--dry-run needs --output FILE or --html FILE; without a file nothing is written.");
}

/** True for the formats that are read by people; the others are read by programs, and contain one session. */
function isForPeople({ format }: ExportOptions): boolean {
  return format === "markdown" || format === "html";
}

async function openSubagents(store: Store, session: Session): Promise<readonly Session[]> {
  const subagents: Session[] = [];
  for (const { id } of await listSubagents(store, session.id)) subagents.push(await store.openSession(id));
  return subagents;
}

function checkDocumentOptions(options: ExportOptions): void {
  if (options.format !== "markdown" && options.assets !== undefined) throw new UsageError("--assets needs --format markdown.");
  if (!isForPeople(options) && options.subagents !== undefined)
    throw new UsageError("--subagents and --no-subagents need --format markdown or html.");
}

/** The folder from which the addresses in a document start. */
function documentFolder(io: Io, { output }: ExportOptions): string {
  return output === undefined || output === "-" ? io.cwd : dirname(resolve(io.cwd, output));
}

/** The inputs of a document beside its session. */
interface DocumentParts extends Pick<MarkdownExportOptions, "asset"> {
  readonly subagents: readonly Session[];
  readonly prices: PriceList;
  readonly onMasked: (counts: readonly SecretCount[]) => void;
}

async function exportPieces(out: Printer, session: Session, options: ExportOptions, parts: DocumentParts): Promise<AsyncIterable<string>> {
  const { onMasked, prices } = parts;
  const entry = async (name: string | undefined) => (name === undefined ? undefined : resolveEntry(session, out, name));
  const branch = await entry(options.branch);
  const secrets = options.withSecrets === true ? ("keep" as const) : ("mask" as const);
  switch (options.format) {
    case "bough":
      return exportBough(session, { secrets, onMasked });
    case "pi":
    case "claude":
    case "codex":
    case "opencode":
      return EXPORTERS[options.format](session, { branch, secrets, onMasked });
    case "html": {
      const subagents = options.subagents === false ? [] : parts.subagents;
      return sessionPage(session, {
        ...(await pageMasks(session, options.withSecrets === true, onMasked, subagents)),
        subagents,
        private: options.private === true,
        ...(branch === undefined ? {} : { leafId: branch, branchOnly: true }),
        toolOutput: options.toolOutput ?? "full",
        thinking: options.thinking === true,
        prices,
      });
    }
    case "markdown": {
      const [from, to] = [await entry(options.from), await entry(options.to)];
      const { toolOutput, thinking } = options;
      return exportMarkdown(session, {
        ...parts,
        includeSubagents: options.subagents === true,
        branch,
        from,
        to,
        toolOutput,
        thinking,
        secrets,
      });
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
