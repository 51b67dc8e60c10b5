import { THINKING_LEVELS } from "../config/schema.js";
import { expandHome } from "../format/path.js";
import { prefixLines, wrapLine } from "../format/wrap.js";
import { exportFormatOf } from "../session/export-formats.js";
import { toFileName } from "../session/write-file.js";
import { type Glyphs, glyphsFor } from "../terminal/glyphs.js";
import { type Line, lineWidth, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { padEnd } from "../terminal/width.js";
import { helpLines, rebindKeys } from "../tui/key-table.js";
import { SHELL_KEYS } from "./keys.js";
import { SLASH_COMMANDS, type SlashName } from "./slash-commands.js";
import { windowBar } from "./status.js";
import { type ShellHost, type ShellWorld, terminalWidth } from "./world.js";

/**
 * The arguments of the `bough` command that a slash command runs; undefined: the shell performs it itself. They pass through
 * the command line, so that defaults, validation, error text and hints have one definition.
 */
export function commandLineOf(name: SlashName, rest: string, sessionId: string, home = ""): readonly string[] | undefined {
  const words = rest.split(/\s+/).filter((word) => word !== "");
  switch (name) {
    case "search":
      return ["search", "--session", sessionId, "--", ...words];
    case "export": {
      const { flags, others } = takeFlags(rest, EXPORT_FLAGS);
      const path = others === "" ? `bough-${toFileName(sessionId)}.md` : expandHome(others, home);
      return ["export", sessionId, ...flags, "--output", path];
    }
    case "import": {
      const { flags, others } = takeFlags(rest, ["--verbose"]);
      return ["import", ...flags, ...(others === "" ? ["--yes"] : ["--", expandHome(others, home)])];
    }
    case "stats":
      return ["stats", sessionId];
    case "label":
      return rest === "" ? undefined : ["label", sessionId, "@leaf", "--", ...words];
    case "name":
      return ["rename", sessionId, "--", ...words];
    case "undo":
      return ["undo", sessionId];
    case "compact":
      // `--yes` confirms that a compaction of an import is undone.
      return words[0] === "--undo" && words.every((word) => word === "--undo" || word === "--yes")
        ? ["compact", sessionId, ...words]
        : undefined;
    case "redo":
      return ["undo", sessionId, "--redo"];
    default:
      return undefined;
  }
}

/** Takes flags from the start and the end, in any order; the rest, such as a path, may contain spaces. */
function takeFlags(rest: string, known: readonly string[]): { readonly flags: readonly string[]; readonly others: string } {
  const words = rest.split(/(\s+)/);
  const flags = new Set<string>();
  const isTaken = (word = "") => word.trim() === "" || (known.includes(word) && flags.add(word));
  while (words.length > 0 && isTaken(words[0])) words.shift();
  while (words.length > 0 && isTaken(words.at(-1))) words.pop();
  return { flags: known.filter((flag) => flags.has(flag)), others: words.join("") };
}

const EXPORT_FLAGS = ["--force", "--with-secrets"];

const CONTEXT_BAR = 20;

/** Errors of commands without their argument. */
const MISSING_ARGUMENT: Readonly<Partial<Record<SlashName, string>>> = {
  search: "Search for what? /search WORDS",
  name: "Which title? /name TITLE",
};

/** The error for a missing or unusable argument; undefined: none. */
function missingArgument(name: SlashName, rest: string): string | undefined {
  if (rest === "") return MISSING_ARGUMENT[name];
  // Without an extension the format is unknown, and a word such as `clipboard` was probably not meant as a file.
  const { others } = takeFlags(rest, EXPORT_FLAGS);
  const isUnclear = name === "export" && others !== "" && exportFormatOf(others) === undefined;
  return isUnclear ? "Into which file? /export FILE.md, FILE.html, FILE.jsonl (every branch) or FILE.pi.jsonl (for pi)" : undefined;
}

/** Runs the `bough` command of a slash command and prints its output. Returns false if the shell must perform it itself. */
export async function runSlashCommand(world: ShellWorld, host: ShellHost, name: SlashName, rest: string): Promise<boolean> {
  const needed = missingArgument(name, rest);
  if (needed !== undefined) {
    host.dispatch({ kind: "notice", text: needed, isError: true });
    return true;
  }
  const line = name === "context" ? contextLine(world) : commandLineOf(name, rest, world.session.id, world.io.home);
  if (line === undefined) return false;
  const { lines, notes, exit } = await world.runCommand(line);
  // Output fits the width of the terminal; messages on stderr may be longer.
  const width = terminalWidth(world);
  const printed = [...lines, ...notes].flatMap((one) => (lineWidth(one) > width ? wrapLine(one, width) : [one]));
  host.print([...printed, ...(name === "context" && exit === 0 ? await windowBarLines(world) : []), []]);
  if (exit !== 0 && notes.length === 0 && lines.length === 0)
    host.dispatch({ kind: "notice", text: `/${name} failed with exit code ${exit}.`, isError: true });
  await world.session.refresh();
  return true;
}

/** `bough context` with the window of the requests of this shell. */
function contextLine({ session, model, config }: ShellWorld): readonly string[] {
  const window = model?.windowTokens ?? config.window ?? "auto";
  return ["context", session.id, "--brief", "--window", String(window)];
}

/** A bar that shows how full the context window is, and where its size comes from. */
async function windowBarLines({ compactor, io, model }: ShellWorld): Promise<readonly Line[]> {
  const { totalTokens, windowTokens } = await compactor.usage();
  const origin = model === null ? [] : [styled("dim", `  (window: ${safe(model.origin.window)})`)];
  return [[windowBar(totalTokens, windowTokens, CONTEXT_BAR, glyphsFor(io.env)), ...origin]];
}

/** `/help`. */
export function helpScreenLines(world: ShellWorld, width: number, glyphs: Glyphs): readonly Line[] {
  const widest = Math.max(...SLASH_COMMANDS.map(({ name, args }) => name.length + args.length + 2));
  const commands = SLASH_COMMANDS.flatMap(({ name, args, help }) => {
    const first = [styled("bold", padEnd(`  /${name} ${args}`, widest + 4))];
    return prefixLines(width, first, [" ".repeat(widest + 4)], (room) => wrapLine([styled("dim", help)], room));
  });
  const keys = rebindKeys(SHELL_KEYS, world.config.keys?.shell ?? {});
  return [[styled("heading", "Commands")], ...commands, [], ...helpLines(keys, width, glyphs), []];
}

/** `/thinking`: sets the level of the following replies, or shows the current one. */
export async function setThinkingLevel(world: ShellWorld, host: ShellHost, level: string): Promise<void> {
  const known: readonly string[] = THINKING_LEVELS;
  if (level !== "" && !known.includes(level)) {
    host.dispatch({ kind: "notice", text: `No such level. Levels: ${known.join(", ")}.`, isError: true });
    return;
  }
  if (level === "") {
    const { thinkingLevel } = await world.session.settings();
    host.dispatch({
      kind: "notice",
      text: `Thinking: ${thinkingLevel ?? world.config.thinking ?? "model default"}.`,
      isError: false,
    });
    return;
  }
  await world.session.append({ type: "thinking_level_change", thinkingLevel: level }, { onConflict: "branch" });
  host.print([[styled("dim", `thinking: ${level}`)], []]);
}

/** The labels of a session, one a line. */
export async function labelLines({ session }: ShellWorld): Promise<readonly Line[]> {
  const labels = await session.labels.list();
  if (labels.length === 0) return [[styled("dim", "No labels yet. /label TEXT labels the current entry.")], []];
  return [...labels.map(({ entryId, label }): Line => [styled("label", `[${label}]`), styled("dim", `  ${entryId}`)]), []];
}
