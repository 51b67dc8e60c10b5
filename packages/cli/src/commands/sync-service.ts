import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, isAbsolute } from "node:path";
import { promisify } from "node:util";
import { findAgentFolders } from "@bough/formats";
import { errorCode } from "@bough/session-core/engine";
import { CommandError } from "../errors.js";
import { errorLine } from "../format/error-text.js";
import { quotePath } from "../format/path.js";
import { sourceEnvironment } from "../session/known-agents.js";
import { noteKey } from "../session/store-key.js";
import { locateStore, notePassword, type StoreLocation } from "../session/store-location.js";
import { writeNewFile } from "../session/write-file.js";
import { withoutKeys } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import { SERVICE_MARK, type Service, serviceFor } from "../watch/service.js";
import { confirm, type Invocation } from "./command.js";

type ServiceInvocation = Invocation<{ readonly yes?: boolean; readonly dryRun?: boolean }>;

/** `bough sync --install`: shows the service for this system, and writes and starts it once the user has agreed. */
export async function installService({ io, out, options }: ServiceInvocation): Promise<void> {
  const location = await locateStore(io, options.store);
  const service = await describeService(io, location);
  const present = await readService(service);
  out.line(styled("bold", `${service.title}: ${service.file}`));
  for (const line of service.text.trimEnd().split("\n")) out.line(`  ${line}`);
  notePassword(out, location, "The service");
  if ((io.env["BOUGH_KEY_COMMAND"] ?? "") === "") noteKey(out, io.env, "The service");
  out.line("and then:");
  for (const command of service.start) out.line(`  ${commandLine(command)}`);
  if (present !== undefined && !present.includes(SERVICE_MARK))
    throw new CommandError("SERVICE_FAILED", `${service.file} exists and was not written by bough. Nothing was changed.`);
  if (options.dryRun === true) return out.line("Nothing was written or started.");
  await out.flush();
  if (options.yes !== true)
    await confirm(io, `Write this file and start it`, present === undefined ? "" : "The file of an earlier --install is replaced.");
  if (present !== service.text) await writeService(io, service, present !== undefined);
  await runAll(io, service.start, `${service.file} was written, but it could not be started`);
  out.line(`Bough imports what agents write from now on. ${service.hint}`);
  out.line("bough sync --uninstall ends it.");
}

/** `bough sync --uninstall`: ends the service and removes its file once the user has agreed. */
export async function uninstallService({ io, out, options }: ServiceInvocation): Promise<void> {
  const service = await describeService(io, await locateStore(io, options.store));
  const present = await readService(service);
  if (present === undefined) return out.line(`There is no ${service.title} of bough: ${service.file} does not exist.`);
  if (!present.includes(SERVICE_MARK))
    throw new CommandError("SERVICE_FAILED", `${service.file} was not written by bough. Nothing was changed.`);
  for (const command of service.stop) out.line(commandLine(command));
  out.line(`and then ${service.file} is removed. Everything that was imported stays.`);
  if (options.dryRun === true) return out.line("Nothing was ended or removed.");
  await out.flush();
  if (options.yes !== true) await confirm(io, "End the service and remove its file", "");
  await runAll(io, service.stop, "The service could not be ended, and its file was not removed");
  await rm(service.file);
  out.line("Removed.");
}

async function describeService(io: Io, { name }: StoreLocation): Promise<Service> {
  const command = [...io.program, "--store", name, "sync", "--watch"];
  const place = { env: io.env, home: io.home, platform: platform() };
  const service =
    io.home === "" ? undefined : serviceFor(place, { command, variables: { ...(await agentVariables(io)), ...keyCommand(io) } });
  if (service === undefined)
    throw new CommandError(
      "SERVICE_UNKNOWN",
      `No service is known for this system. Have this command run at login: ${commandLine(command)}`,
    );
  return service;
}

/** The command that prints the key of the store. The key itself is not written into a file. */
function keyCommand({ env }: Io): Readonly<Record<string, string>> {
  const command = env["BOUGH_KEY_COMMAND"] ?? "";
  return command === "" ? {} : { BOUGH_KEY_COMMAND: command };
}

/** The variables of this shell that name folders of agents: a service does not inherit them. */
async function agentVariables(io: Io): Promise<Readonly<Record<string, string>>> {
  const foldersWith = async (env: Io["env"]) => JSON.stringify(await findAgentFolders(sourceEnvironment({ env, home: io.home })));
  const all = await foldersWith(io.env);
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(io.env)) {
    if (value === undefined || !isAbsolute(value)) continue;
    const others = Object.entries(io.env).filter(([other]) => other !== name);
    if ((await foldersWith(Object.fromEntries(others))) !== all) found[name] = value;
  }
  return found;
}

async function readService({ file }: Service): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new CommandError("SERVICE_FAILED", `Cannot read ${file}: ${errorLine(error)}. Nothing was changed.`, { cause: error });
  }
}

async function writeService(io: Io, { file, text }: Service, overwrite: boolean): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
  } catch (error) {
    throw new CommandError("SERVICE_FAILED", `Cannot make the folder ${dirname(file)}: ${errorLine(error)}. Nothing was written.`, {
      cause: error,
    });
  }
  await writeNewFile(io, file, [text], overwrite);
}

/** @throws {CommandError} a command failed; the message names it and those after it. */
async function runAll(io: Io, commands: readonly (readonly string[])[], failure: string): Promise<void> {
  for (const [at, [program = "", ...args]] of commands.entries()) {
    try {
      await promisify(execFile)(program, args, { env: withoutKeys(io.env), timeout: 60_000 });
    } catch (error) {
      const reason = errorCode(error) === "ENOENT" ? `${program} was not found` : errorLine(error);
      const left = commands.slice(at).map(commandLine).join("; ");
      throw new CommandError("SERVICE_FAILED", `${failure}: ${reason}. Run it yourself: ${left}`, { cause: error });
    }
  }
}

function commandLine(words: readonly string[]): string {
  return words.map(quotePath).join(" ");
}
