import { cleanText } from "../text/clean-text.js";
import { inSummary, tagged } from "./text/tags.js";

/** A skill that was used in the session. */
export interface InvokedSkill {
  readonly name: string;
  readonly path?: string | undefined;
  readonly instructions: string;
}

/** What a host keeps beside the conversation, and wants the model to have after it was shortened. */
export interface HostState {
  readonly plan?: string | undefined;
  readonly todos?: string | undefined;
  /** Oldest first. */
  readonly skills?: readonly InvokedSkill[] | undefined;
  /** What the agent in charge is (Copilot CLI's active agent). */
  readonly agentSummary?: string | undefined;
}

/** The blocks of a host's state, Copilot CLI's form (row 105): the newest skill in full, older ones by their paths. */
export function hostStateBlocks({ plan, todos, skills = [], agentSummary }: HostState): readonly string[] {
  const state = [inner("plan", plan), inner("todos", todos)].filter((part) => part !== "");
  return [
    state.length === 0 ? "" : tagged("current_state", state.join("\n")),
    skills.length === 0 ? "" : tagged("invoked_skills", skillsText(skills)),
    said(agentSummary) === "" ? "" : tagged("agent_summary", said(agentSummary)),
  ].filter((block) => block !== "");
}

function inner(tag: "plan" | "todos", text: string | undefined): string {
  return said(text) === "" ? "" : `<${tag}>\n${said(text)}\n</${tag}>`;
}

function skillsText(skills: readonly InvokedSkill[]): string {
  const older = skills.slice(0, -1).map((skill) => `${nameOf(skill)} (read it again when it is needed)`);
  const newest = skills.slice(-1).map((skill) => `<skill>\n${nameOf(skill)}\n${said(skill.instructions)}\n</skill>`);
  return [...older, ...newest].join("\n");
}

function nameOf({ name, path }: InvokedSkill): string {
  return path === undefined ? said(name) : `${said(name)}: ${said(path)}`;
}

function said(text: string | undefined): string {
  return inSummary(cleanText(text ?? "")).trim();
}
