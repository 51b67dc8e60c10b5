import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { membersOf, type Rule, record, TEXT } from "@bough/session-core/arguments";
import type { SourceEnvironment } from "../source/agent-folders.js";
import { isAtOrBelow } from "../source/links.js";
import type { SourceAgent, SourceFormat, SourceResume } from "../source/source-format.js";

/** The rule for the argument from which the folders of agents are computed. */
export const ENVIRONMENT: Rule = record({ env: membersOf(TEXT), home: TEXT, platform: TEXT });

export function processEnvironment(): SourceEnvironment {
  return { env: process.env, home: homedir(), platform: process.platform };
}

/** An agent, and the format of its sessions. */
export interface FormatAgent {
  readonly agent: SourceAgent;
  readonly format: SourceFormat;
}

export function agentsOf(formats: readonly SourceFormat[]): readonly FormatAgent[] {
  return formats.flatMap((format) => (format.agents ?? []).map((agent) => ({ agent, format })));
}

/** The folders in which an agent keeps sessions, absolute. Without a home folder those below it are left out. */
export function foldersOf(agent: SourceAgent, environment: SourceEnvironment): readonly string[] {
  return agent.folders(environment).filter((folder) => isAbsolute(folder));
}

/** A program that can continue sessions of a format. */
export interface ResumingAgent {
  /** Its name for people, such as `Claude Code`. */
  readonly name: string;
  readonly resume: SourceResume;
  /** The folder for new sessions; undefined: there is no home folder. */
  readonly folder: string | undefined;
}

/**
 * Returns the program that can continue a session of this format: the one in whose folders `file` is, or else the first with
 * files of its name. undefined: there is none.
 */
export async function findResumingAgent(
  format: string,
  file: string | undefined,
  environment: SourceEnvironment,
): Promise<ResumingAgent | undefined> {
  const { FORMATS } = await import("../registry.js");
  const agents = FORMATS.find(({ name }) => name === format)?.agents ?? [];
  const ofFile = agents.find((agent) => foldersOf(agent, environment).some((folder) => file !== undefined && isAtOrBelow(file, folder)));
  const ofName = agents.find(({ files }) => file !== undefined && files.test(file.replaceAll("\\", "/")));
  return toResuming(ofFile ?? ofName ?? agents[0], environment);
}

function toResuming(agent: SourceAgent | undefined, environment: SourceEnvironment): ResumingAgent | undefined {
  if (agent?.resume === undefined) return undefined;
  return { name: agent.name, resume: agent.resume, folder: foldersOf(agent, environment)[0] };
}
