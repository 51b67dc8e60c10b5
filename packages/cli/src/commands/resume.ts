import { existsSync, realpathSync, statSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import { type EntryId, exportClaude, exportCodex, exportPi, type Session, type SessionRecord } from "@bough/session-core";
import { findResumingAgent, type ResumingAgent } from "@bough/session-core/internals";
import { AgentFailedError, NoHomeError, NotResumableError } from "../errors.js";
import { quotePath } from "../format/quote-path.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { resolveEntry } from "../session/resolve-names.js";
import { createPrivateFolder, PRIVATE, writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { findProgram, runProgram } from "../terminal/run-program.js";
import { type Command, type CommonOptions, requireArgument } from "./command.js";

/** The formats in which a new session can be written. */
export const RESUME_TARGETS = ["pi", "claude", "codex"] as const;
type Target = (typeof RESUME_TARGETS)[number];

const EXPORTERS = { pi: exportPi, claude: exportClaude, codex: exportCodex } satisfies Record<Target, unknown>;

interface ResumeOptions extends CommonOptions {
  readonly in?: Target;
  readonly print?: boolean;
}

/** A session of an agent, and how the agent is started with it. */
interface Start {
  readonly agent: string;
  readonly sessionId: string;
  readonly file: string;
  /** Whether the file was written now; otherwise it is the one that was imported. */
  readonly isNew: boolean;
  readonly cwd: string;
  readonly command: readonly [program: string, ...args: string[]];
}

/** `bough resume`: writes a branch as a new session of an agent, and starts the agent with it. */
export const runResume: Command<ResumeOptions> = async ({ io, out, args: [name, entryName], options }) => {
  const start = await withStore(io, options.store, "read", async (store) => {
    const { session, record } = await chooseSession(store, io, out, name, "store");
    const branch = entryName === undefined ? undefined : await resolveEntry(session, out, requireArgument(entryName));
    return prepare(io, out, { session, record, branch, target: options.in });
  });
  if (options.json === true) return out.json(start);
  if (start.isNew) await out.note(styled("dim", `written to ${start.file}`));
  const isFound = findProgram(io, start.command[0]) !== undefined;
  if (options.print !== true && isFound && io.stdout.isTerminal) return startAgent(io, start);
  if (options.print !== true && !isFound)
    await out.note(styled("dim", `${start.command[0]} is not in PATH. To go on, run this where ${start.agent} is installed:`));
  out.line(commandLine(start));
};

interface Branch {
  readonly session: Session;
  readonly record: SessionRecord;
  /** The end of the branch; undefined: the leaf. */
  readonly branch: EntryId | undefined;
  readonly target: Target | undefined;
}

async function prepare(io: Io, out: Printer, given: Branch): Promise<Start> {
  const { record, target } = given;
  const source = target === undefined || record.source?.format === target ? record.source : null;
  const agent = await findResumingAgent(target ?? source?.format ?? "", source?.path, { ...io, platform: platform() });
  if (agent === undefined) throw new NotResumableError(`${whoWrote(record)}. ${CHOOSE}`);
  const cwd = await workingDirectory(io, out, record.cwd);
  return agent.resume.newSession === undefined ? originalOf(agent, given, cwd) : writeSession(io, agent, given, cwd);
}

const CHOOSE = `Choose an agent that Bough can write a session for: ${RESUME_TARGETS.map((target) => `--in ${target}`).join(", ")}.`;

function whoWrote({ source }: SessionRecord): string {
  return source === null
    ? "The session was not imported from an agent"
    : `Sessions of the format ${source.format} cannot be resumed by a command`;
}

/** The session that was imported, which its agent itself goes on with. */
function originalOf(agent: ResumingAgent, { record, branch }: Branch, cwd: string): Start {
  const { source } = record;
  if (record.kind === "subagent")
    throw new NotResumableError(`${agent.name} goes on with conversations only, not with a subagent. ${CHOOSE}`);
  if (branch !== undefined)
    throw new NotResumableError(`${agent.name} goes on at the end of its own session only, not at an entry. ${CHOOSE}`);
  if (source === null || !existsSync(source.path))
    throw new NotResumableError(`The session's file ${source?.path ?? ""} is gone, so ${agent.name} cannot go on with it. ${CHOOSE}`);
  const { program, args } = agent.resume;
  const { path: file, id: sessionId } = source;
  // It becomes an argument of the program, which must not take it for an option.
  if (!/^\w[\w.-]*$/.test(sessionId)) throw new NotResumableError(`${agent.name} cannot be given the id ${sessionId}. ${CHOOSE}`);
  return { agent: agent.name, sessionId, file, isNew: false, cwd, command: [program, ...args(sessionId, file)] };
}

async function writeSession(io: Io, agent: ResumingAgent, { session, record, branch, target }: Branch, cwd: string): Promise<Start> {
  if (agent.folder === undefined) throw new NoHomeError(`There is no home directory, so the folder of ${agent.name} is not known.`);
  if (record.entryCount === 0) throw new NotResumableError("The session has no entries. Start the agent itself.");
  const { program, args, newSession } = agent.resume;
  const place = newSession?.(agent.folder, { cwd, createdAtMs: io.now() });
  const exporter = EXPORTERS[target ?? formatOf(record)];
  if (place === undefined) throw new NotResumableError(CHOOSE);
  const { sessionId, file } = place;
  await createPrivateFolder(dirname(file));
  await writeNewFile(io, file, exporter(session, { branch, continues: { sessionId, cwd } }), false, PRIVATE);
  return { agent: agent.name, sessionId, file, isNew: true, cwd, command: [program, ...args(sessionId, file)] };
}

function formatOf({ source }: SessionRecord): Target {
  const target = RESUME_TARGETS.find((format) => format === source?.format);
  if (target === undefined) throw new NotResumableError(CHOOSE);
  return target;
}

/** The directory of the session if it still exists, otherwise the current one: agents keep sessions by their real directory. */
async function workingDirectory(io: Io, out: Printer, recorded: string | null): Promise<string> {
  const isThere = recorded !== null && recorded !== "" && statSync(recorded, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isThere && recorded !== null && recorded !== "")
    await out.note(styled("dim", `the session's directory ${recorded} does not exist here; going on in ${io.cwd}`));
  return realpathSync(isThere ? recorded : io.cwd);
}

async function startAgent(io: Io, { agent, cwd, command: [program, ...args] }: Start): Promise<void> {
  // Commands that npm installs on Windows are scripts, which only cmd runs.
  const call = "SystemRoot" in io.env ? { command: "cmd", args: ["/c", program, ...args] } : { command: program, args };
  const exit = await runProgram(io, { ...call, cwd });
  if (exit !== 0) throw new AgentFailedError(`${agent} ended with ${exit}. Its session stays where it is: ${[program, ...args].join(" ")}`);
}

/** The command for a shell, also from another directory. */
function commandLine({ cwd, command }: Start): string {
  return `cd ${quotePath(cwd)} && ${command.map(quotePath).join(" ")}`;
}
