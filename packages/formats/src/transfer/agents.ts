import { homedir } from "node:os";
import { membersOf, type Rule, record, TEXT } from "@bough/session-core/arguments";
import type { SourceAgent, SourceEnvironment, SourceFormat } from "../source/source-format.js";

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
