import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { maskSecrets } from "@bough/formats/secrets";
import { openStore, type Store } from "@bough/session-core";
import { isSystemError } from "@bough/session-core/engine";
import { oneLine } from "@bough/session-core/view";
import { ClientConfigError, UsageError } from "../errors.js";
import { errorLine } from "../format/error-text.js";
import { expandHome } from "../format/path.js";
import { dateTime } from "../format/time.js";
import { countChanged } from "../memory/changed-files.js";
import { findMemory, type Passage } from "../memory/find-memory.js";
import { frameMemory, type ShownPassage } from "../memory/frame.js";
import { HOOK_AGENTS, type HookAgent } from "../memory/hook-agents.js";
import { type HookCall, readHookCall } from "../memory/hook-input.js";
import { logMemory, readHookLog } from "../memory/hook-log.js";
import { shortSessionId } from "../session/names.js";
import { findPlace } from "../session/place.js";
import { noteKey, openOptions } from "../session/store-key.js";
import { locateStore, mentionsSetting, notePassword } from "../session/store-location.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { type Command, type CommonOptions, confirm, type Invocation } from "./command.js";

interface HookOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly debug?: boolean;
  readonly limit?: number;
}

const ACTIONS = ["install", "uninstall", "status", "run", "log"];
const NAMES = HOOK_AGENTS.map(({ name }) => name).join(", ");

/** `bough hook`: gives agents what earlier sessions say, at the start of a session and at a prompt. */
export const runHook: Command<HookOptions> = async (invocation) => {
  const [action = "", name] = invocation.args;
  switch (action) {
    case "install":
      return install(invocation, agentNamed(name));
    case "uninstall":
      return uninstall(invocation, agentNamed(name));
    case "status":
      return printStatus(invocation);
    case "run":
      return run(invocation, agentNamed(name));
    case "log":
      return printLog(invocation);
    default:
      throw new UsageError(`There is no bough hook ${action}. Choose from ${ACTIONS.join(", ")}.`);
  }
};

function agentNamed(name: string | undefined): HookAgent {
  const agent = HOOK_AGENTS.find((one) => one.name === name);
  if (agent === undefined)
    throw new UsageError(`${name === undefined ? "Name an agent" : `There is no hook for ${name}`}. Choose from ${NAMES}.`);
  return agent;
}

async function install(invocation: Invocation<HookOptions>, agent: HookAgent): Promise<void> {
  const { io, out, options } = invocation;
  const { prepareHook } = await import("../memory/install-hook.js");
  const location = await locateStore(io, options.store);
  // An agent does not start the hook with the environment of this shell.
  const args = [...(location.isDefault ? [] : ["--store", location.name]), "hook", "run", agent.name];
  const { file, text, found, write } = await prepareHook(io, agent, args);
  if (found === "same") return out.line(`${agent.title} has this hook already, in ${file}.`);
  out.line(styled("bold", `${agent.title}: ${file}`));
  for (const line of text.trimEnd().split("\n")) out.line(`  ${line}`);
  notePassword(out, location, agent.title);
  noteKey(out, io.env, agent.title);
  out.line(
    `At the start of a session and at a prompt, ${agent.title} and its model get up to 2 kB of what earlier sessions of the same directory say, of every agent. Keys, tokens and passwords are masked.`,
  );
  if (options.dryRun === true) return out.line("Nothing was written.");
  if (io.ask === undefined && options.yes !== true) return out.line("Repeat the command with --yes to have it written.");
  await out.flush();
  const consequence = found === "other" ? "Bough's hook there is replaced, everything else stays." : "Everything else in the file stays.";
  if (options.yes !== true) await confirm(io, `Write this to ${file}`, consequence);
  await write();
  out.line(`Written. Sessions that start from now on use it.${agent.note === undefined ? "" : ` ${agent.note}`}`);
}

async function uninstall({ io, out, options }: Invocation<HookOptions>, agent: HookAgent): Promise<void> {
  const { prepareRemoval } = await import("../memory/install-hook.js");
  const { file, found, text, write } = await prepareRemoval(io, agent);
  if (found === "nothing") return out.line(`${agent.title} has no hook of Bough in ${file}.`);
  out.line(styled("bold", `${agent.title}: ${file}`));
  for (const line of text.trimEnd().split("\n").slice(0, 5)) out.line(`  ${line}`);
  if (options.dryRun === true) return out.line("Nothing was removed.");
  if (io.ask === undefined && options.yes !== true) return out.line("Repeat the command with --yes to have it removed.");
  await out.flush();
  if (options.yes !== true) await confirm(io, `Remove this from ${file}`, "Everything else in the file stays.");
  await write();
  out.line("Removed.");
}

async function printStatus({ io, out, options }: Invocation<HookOptions>): Promise<void> {
  const agents: Awaited<ReturnType<typeof statusOf>>[] = [];
  for (const agent of HOOK_AGENTS) agents.push(await statusOf(io, agent));
  const off = await directoriesOff(io);
  if (options.json === true) return out.json({ agents, off });
  for (const { title, file, installed, problem } of agents) {
    out.line(styled(installed ? "bold" : "dim", `${title}: ${installed ? "installed" : "not installed"}`), styled("dim", `  ${file}`));
    if (problem !== null) out.line(`  ${problem}`);
  }
  for (const directory of off) out.line(`Off in ${directory}, by the setting hook.off.`);
}

/** The file of an agent's hook, and whether the hook is installed. `problem`: why the file cannot be read; null: it can. */
async function statusOf(io: Io, agent: HookAgent) {
  const { prepareRemoval } = await import("../memory/install-hook.js");
  const { name, title } = agent;
  try {
    const { file, found } = await prepareRemoval(io, agent);
    return { name, title, file, installed: found === "same", problem: null };
  } catch (error) {
    if (!(error instanceof ClientConfigError)) throw error;
    return { name, title, file: agent.file(io), installed: false, problem: error.message };
  }
}

async function printLog({ io, out, options }: Invocation<HookOptions>): Promise<void> {
  const given = (await readHookLog(io)).toReversed().slice(0, options.limit ?? 20);
  if (options.json === true) return out.json({ given });
  if (given.length === 0) return out.line("No hook has given anything yet.");
  for (const { atMs, agent, event, cwd, prompt, text } of given) {
    out.line(styled("bold", `${dateTime(atMs)}  ${agent}, ${event}`), styled("dim", `  ${cwd}`));
    if (prompt !== "") out.line(styled("user", "prompt: "), prompt);
    for (const line of text.split("\n")) out.line(`  ${line}`);
    await out.pump();
  }
}

/** The time after which a hook gives up, in milliseconds. */
const PATIENCE_MS = 2_000;
/** The longest wait for the lock of another process on a file, in milliseconds: who locks a store for longer needs it for much longer. */
const LOCK_MS = 500;

/** Answers a call of an agent. Whatever goes wrong, it prints nothing and ends well; with `--debug` it says why on stderr. */
async function run({ io, out, options }: Invocation<HookOptions>, agent: HookAgent): Promise<void> {
  const explain = async (why: string): Promise<void> => {
    if (options.debug === true) await io.stderr.write(`bough hook: ${safe(why)}\n`);
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), PATIENCE_MS);
  });
  try {
    const answer = await Promise.race([late, answerCall(io, agent, options.store, explain)]);
    if (typeof answer === "string") await explain(answer === "late" ? `gave up after ${PATIENCE_MS / 1000} s` : answer);
    else out.json(answer);
    // A server that does not answer would keep the process alive.
    if (answer === "late") io.endProcess(0);
  } catch (error) {
    await explain(errorLine(error));
  } finally {
    clearTimeout(timer);
  }
}

/** The output of the hook; a string: why there is none. `explain` reports a failure that leaves the output as it is. */
async function answerCall(
  io: Io,
  agent: HookAgent,
  store: string | undefined,
  explain: (why: string) => Promise<void>,
): Promise<object | string> {
  const call = await readHookCall(io.pipes.input);
  if (typeof call === "string") return call;
  const cwd = call.cwd ?? io.cwd;
  const off = await directoriesOff(io);
  if (off.some((directory) => isBelow(cwd, directory))) return `the setting hook.off names ${cwd}`;
  const location = await locateStore(io, store);
  // A server has as long as the hook has, whose timer is the shorter one.
  const busyTimeoutMs = location.isServer ? 2 * PATIENCE_MS : LOCK_MS;
  const opened = await openStore({ ...(await openOptions({ env: io.env }, location)), mode: "read-only", busyTimeoutMs });
  try {
    const passages = await findMemory(opened, findPlace({ ...io, cwd, env: {} }), call);
    if (passages.length === 0) return "nothing fits well";
    const text = frameMemory(await Promise.all(passages.map((passage) => toShown(io, opened, passage, cwd))), call.kind);
    if (text === undefined) return "nothing fits into the answer";
    // The folder of the log is read-only if the agent runs its hooks in a sandbox.
    await logMemory(io, describeGiven(io, agent, call, passages, { cwd, text })).catch((error: unknown) =>
      explain(`not written down in the log: ${errorLine(error)}`),
    );
    return { hookSpecificOutput: { hookEventName: call.eventName, additionalContext: text } };
  } finally {
    await opened.close();
  }
}

async function toShown(io: Io, store: Store, passage: Passage, cwd: string): Promise<ShownPassage> {
  const session = await store.openSession(passage.sessionId);
  return {
    ...passage,
    shortSession: await shortSessionId(store, passage.sessionId, { fullIds: false }),
    shortEntry: (await session.shortIds([passage.entryId])).get(passage.entryId) ?? passage.entryId,
    changedFiles: await countChanged(io, passage.files, passage.cwd ?? cwd, passage.createdAtMs),
  };
}

function describeGiven(
  io: Io,
  agent: HookAgent,
  call: HookCall,
  passages: readonly Passage[],
  { cwd, text }: { cwd: string; text: string },
) {
  return {
    atMs: io.now(),
    agent: agent.name,
    event: call.eventName,
    cwd,
    sessionId: call.sessionId ?? null,
    prompt: oneLine(maskSecrets(call.prompt).text, 200),
    entries: passages.map(({ sessionId, entryId, score }) => ({ sessionId, entryId, score })),
    text,
  };
}

/** The directories of the setting `hook.off`, absolute. The code that checks the config file takes 40 ms to load: only if it is needed. */
async function directoriesOff(io: Io): Promise<readonly string[]> {
  if (!(await mentionsSetting(io, "hook"))) return [];
  const { loadConfig } = await import("../config/config-file.js");
  return ((await loadConfig(io)).hook?.off ?? []).map((directory) => expandHome(directory, io.home));
}

function isBelow(path: string, folder: string): boolean {
  const inside = (one: string, other: string): boolean => !/^\.\.(?:[\\/]|$)/.test(relative(other, one));
  return inside(path, folder) || inside(realOr(path), realOr(folder));
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isSystemError(error)) return path;
    throw error;
  }
}
