import { existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import { exportClaude, exportCodex, exportOpencode, exportPi, findResumingAgent, type ResumingAgent } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { EntryId, Session, SessionRecord } from "@bough/session-core";
import { CommandError, UsageError } from "../errors.js";
import { quotePath } from "../format/path.js";
import { branchPrompt } from "../session/branch-prompt.js";
import { chooseSession } from "../session/choose-session.js";
import { resolveEntry, sessionName } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { createFolder, PRIVATE, writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { findProgram, runProgram } from "../terminal/run-program.js";
import { type Command, type CommonOptions, confirm, requireArgument } from "./command.js";

/** The formats in which a new session can be written. */
export const RESUME_TARGETS = ["pi", "claude", "codex", "opencode"] as const;
type Target = (typeof RESUME_TARGETS)[number];

/** The writers of their sessions. */
export const EXPORTERS = { pi: exportPi, claude: exportClaude, codex: exportCodex, opencode: exportOpencode } satisfies Record<
  Target,
  unknown
>;

interface ResumeOptions extends CommonOptions {
  readonly in?: Target;
  readonly print?: boolean;
  readonly dryRun?: boolean;
  readonly write?: boolean;
  readonly prompt?: boolean;
  readonly yes?: boolean;
}

type ProgramArgs = readonly [program: string, ...args: string[]];

/** A session of an agent, and how the agent is started with it. */
interface Start {
  readonly agent: string;
  readonly sessionId: string;
  readonly file: string;
  /** The file does not exist yet: `write` creates it. Otherwise it is the one that was imported. */
  readonly isNew: boolean;
  /** The directory in which the agent starts. */
  readonly cwd: string;
  /** The session was recorded in a directory that is gone. */
  readonly isMoved: boolean;
  readonly command: ProgramArgs;
  /** The command before it with which the agent takes the file into its own store; null: it reads the file itself. */
  readonly importCommand: ProgramArgs | null;
  /** Writes the file. Resolves at once where it exists. */
  readonly write: () => Promise<void>;
}

/**
 * `bough resume`: writes a branch as a new session of an agent, and starts the agent with it. Writes nothing unless the agent is
 * about to start or `--write` is given, and not before the user has agreed to a session or directory that the command chose itself.
 */
export const runResume: Command<ResumeOptions> = async ({ io, out, args: [name, entryName], options }) => {
  checkOptions(options);
  const start = await withStore(io, options.store, "read", async (store) => {
    const { session, record, isGuess } = await chooseSession(store, io, out, name, "store");
    const branch = entryName === undefined ? undefined : await resolveEntry(session, out, requireArgument(entryName));
    if (options.prompt === true) return printPrompt(out, session, branch, options);
    const prepared = await prepare(io, { session, record, branch, target: options.in });
    const mode = chooseMode(io, options, prepared);
    if (prepared.isMoved)
      await out.note(styled("dim", `the session's directory ${record.cwd} does not exist here; the directory is ${prepared.cwd}`));
    if (mode !== "print" && (isGuess || prepared.isMoved) && options.yes !== true) {
      await out.flush();
      await confirm(io, `Go on with ${await sessionName(store, record, out)} in ${prepared.agent}, in ${prepared.cwd}`, "");
    }
    if (mode !== "print") await prepared.write();
    await report(out, options, prepared, mode);
    return mode === "start" ? prepared : undefined;
  });
  if (start !== undefined) await startAgent(io, start);
};

function checkOptions({ print, dryRun, write, prompt, in: target }: ResumeOptions): void {
  if (prompt === true && (target !== undefined || write === true))
    throw new UsageError("--prompt prints a text for any agent, and writes no session. Leave out --in and --write.");
  if (write === true && (print === true || dryRun === true))
    throw new UsageError("--write writes the session; --print and --dry-run write nothing. Choose one.");
}

/** Prints the branch as a prompt, for agents whose sessions cannot be written. */
async function printPrompt(out: Printer, session: Session, branch: EntryId | undefined, { json }: ResumeOptions): Promise<undefined> {
  const masked: SecretCount[] = [];
  const pieces = branchPrompt(session, branch, (counts) => masked.push(...counts));
  if (json === true) {
    let prompt = "";
    for await (const piece of pieces) prompt += piece;
    out.json({ prompt });
    return;
  }
  for await (const piece of pieces) {
    out.document(piece);
    await out.pump();
  }
  if (masked.length > 0) await out.note(styled("dim", describeSecrets(masked, "masked")));
}

/** `print`: nothing is written. `write`: the agent is not started. */
type Mode = "print" | "write" | "start";

function chooseMode(io: Io, { print, dryRun, write, json }: ResumeOptions, { agent, command: [program], isNew }: Start): Mode {
  if (write === true) return "write";
  if (print === true || dryRun === true || json === true || !io.stdout.isTerminal) return "print";
  if (findProgram(io, program) !== undefined) return "start";
  const elsewhere = isNew ? "--write writes the session and prints the command for it" : "--print prints the command";
  throw new CommandError("NOT_RESUMABLE", `${program} is not in PATH, so nothing was written. Install ${agent}; or ${elsewhere}.`);
}

async function report(out: Printer, { json }: ResumeOptions, start: Start, mode: Mode): Promise<void> {
  const { agent, sessionId, file, isNew, cwd, command, importCommand } = start;
  const isWritten = !isNew || mode !== "print";
  if (json === true) return out.json({ agent, sessionId, file, isNew, isWritten, cwd, importCommand, command });
  if (isNew && isWritten) await out.note(styled("dim", `written to ${file}`));
  if (!isWritten) await out.note(styled("dim", `nothing was written; --write writes ${file}`));
  if (mode !== "start") out.line(commandLine(start));
}

interface Branch {
  readonly session: Session;
  readonly record: SessionRecord;
  /** The end of the branch; undefined: the leaf. */
  readonly branch: EntryId | undefined;
  readonly target: Target | undefined;
}

async function prepare(io: Io, given: Branch): Promise<Start> {
  const { record, target } = given;
  const source = target === undefined || record.source?.format === target ? record.source : null;
  const agent = await findResumingAgent(target ?? source?.format ?? "", source?.path, { ...io, platform: platform() });
  if (agent === undefined) throw new CommandError("NOT_RESUMABLE", `${whoWrote(record)}. ${CHOOSE}`);
  const place = workingDirectory(io, record.cwd);
  return agent.resume.newSession === undefined ? originalOf(agent, given, place) : newSessionOf(io, agent, given, place);
}

const CHOOSE =
  `Choose an agent that Bough can write a session for: ${RESUME_TARGETS.map((target) => `--in ${target}`).join(", ")}. ` +
  "For any other one, --prompt prints the branch as a prompt.";

function whoWrote({ source }: SessionRecord): string {
  return source === null
    ? "The session was not imported from an agent"
    : `Sessions of the format ${source.format} cannot be resumed by a command`;
}

/** Returns the command with which an agent continues its own session, from which this one was imported. */
function originalOf(agent: ResumingAgent, { record, branch }: Branch, place: WorkingDirectory): Start {
  const { source } = record;
  if (record.kind === "subagent")
    throw new CommandError("NOT_RESUMABLE", `${agent.name} goes on with conversations only, not with a subagent. ${CHOOSE}`);
  if (branch !== undefined)
    throw new CommandError("NOT_RESUMABLE", `${agent.name} goes on at the end of its own session only, not at an entry. ${CHOOSE}`);
  if (source === null || !existsSync(source.path))
    throw new CommandError(
      "NOT_RESUMABLE",
      `The session's file ${source?.path ?? ""} is gone, so ${agent.name} cannot go on with it. ${CHOOSE}`,
    );
  const { program, args } = agent.resume;
  const { path: file, id: sessionId } = source;
  // It becomes an argument of the program, which must not take it for an option.
  if (!/^\w[\w.-]*$/.test(sessionId))
    throw new CommandError("NOT_RESUMABLE", `${agent.name} cannot be given the id ${sessionId}. ${CHOOSE}`);
  const command = [program, ...args(sessionId, file)] as const;
  return { agent: agent.name, sessionId, file, isNew: false, ...place, command, importCommand: null, write: async () => undefined };
}

/** The session that `write` creates. */
function newSessionOf(io: Io, agent: ResumingAgent, { session, record, branch, target }: Branch, place: WorkingDirectory): Start {
  const { cwd } = place;
  if (agent.folder === undefined)
    throw new CommandError("NO_HOME", `There is no home directory, so the folder of ${agent.name} is not known.`);
  if (record.entryCount === 0) throw new CommandError("NOT_RESUMABLE", "The session has no entries. Start the agent itself.");
  const { program, args, newSession, importArgs } = agent.resume;
  const created = newSession?.(agent.folder, { cwd, createdAtMs: io.now() });
  const exporter = EXPORTERS[target ?? formatOf(record)];
  if (created === undefined) throw new CommandError("NOT_RESUMABLE", CHOOSE);
  const { sessionId, file } = created;
  const write = async () => {
    await createFolder(dirname(file));
    await writeNewFile(io, file, exporter(session, { branch, continues: { sessionId, cwd }, secrets: "keep" }), false, PRIVATE);
  };
  const importCommand: ProgramArgs | null = importArgs === undefined ? null : [program, ...importArgs(file)];
  return { agent: agent.name, sessionId, file, isNew: true, ...place, command: [program, ...args(sessionId, file)], importCommand, write };
}

function formatOf({ source }: SessionRecord): Target {
  const target = RESUME_TARGETS.find((format) => format === source?.format);
  if (target === undefined) throw new CommandError("NOT_RESUMABLE", CHOOSE);
  return target;
}

type WorkingDirectory = Pick<Start, "cwd" | "isMoved">;

/** The directory of the session if it still exists, otherwise the current one: agents keep sessions by their real directory. */
function workingDirectory(io: Io, recorded: string | null): WorkingDirectory {
  if (recorded === null || recorded === "") return { cwd: realpathSync(io.cwd), isMoved: false };
  const isThere = statSync(recorded, { throwIfNoEntry: false })?.isDirectory() === true;
  return { cwd: realpathSync(isThere ? recorded : io.cwd), isMoved: !isThere };
}

async function startAgent(io: Io, { agent, cwd, file, command, importCommand }: Start): Promise<void> {
  if (importCommand !== null) {
    const exit = await runCommand(io, cwd, importCommand);
    if (exit !== 0)
      throw new CommandError("AGENT_FAILED", `${agent} ended with ${exit} and did not take the session, which is in ${file}.`);
    // It is in the agent's own store now.
    rmSync(file);
  }
  const exit = await runCommand(io, cwd, command);
  if (exit !== 0)
    throw new CommandError("AGENT_FAILED", `${agent} ended with ${exit}. Its session stays where it is: ${command.join(" ")}`);
}

/** Returns the exit code, or the signal or error that ended the program. */
function runCommand(io: Io, cwd: string, [program, ...args]: ProgramArgs): Promise<number | string> {
  return runProgram(io, { command: program, args, cwd, needsKeys: true });
}

/** The command for a shell, also from another directory. */
function commandLine({ cwd, command, importCommand }: Start): string {
  const commands = [["cd", cwd], ...(importCommand === null ? [] : [importCommand]), command];
  return commands.map((words) => words.map(quotePath).join(" ")).join(" && ");
}
