import { homedir } from "node:os";
import { membersOf, record, TEXT } from "../arguments/rules.js";
import type { SourceAgent, SourceEnvironment, SourceFormat } from "../source/source-session.js";

/** The rule for an argument that says where agents keep their files. */
export const ENVIRONMENT = record({ env: membersOf(TEXT), home: TEXT, platform: TEXT });

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
