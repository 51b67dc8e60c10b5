import type { Entry } from "@bough/session-core";
import type { Step } from "@bough/session-core/internals";
import { counted } from "../format/numbers.js";
import type { ShownParts } from "./content.js";

type Kind = "private" | "thinking" | "output" | "hidden" | "edit" | "custom" | "foreign";

// In singular and plural.
const NAMES: Readonly<Record<Kind, readonly [one: string, several: string]>> = {
  private: ["command kept out of the conversation", "commands kept out of the conversation"],
  thinking: ["thought of the model", "thoughts of the model"],
  output: ["tool output", "tool outputs"],
  hidden: ["hidden message", "hidden messages"],
  edit: ["context edit", "context edits"],
  custom: ["custom entry", "custom entries"],
  foreign: ["record of another program", "records of another program"],
};

/** Counts what a page leaves out. */
export class Omissions {
  readonly #counts = new Map<Kind, number>();

  count(kind: Kind, times = 1): void {
    if (times > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  /** Counts what is not shown of a step. */
  countIn(step: Step, { thinking, toolOutput }: ShownParts): void {
    if (step.kind === "entry") {
      this.#countEntry(step.entry, toolOutput);
      return;
    }
    if (!thinking) this.count("thinking", step.message.content.filter(({ type }) => type === "thinking").length);
    if (toolOutput === "none") for (const results of step.results.values()) this.count("output", results.length);
  }

  #countEntry(entry: Entry, toolOutput: ShownParts["toolOutput"]): void {
    if (entry.type === "context_edit") this.count("edit");
    if (entry.type === "custom" || entry.type === "foreign") this.count(entry.type);
    const message = entry.type === "message" ? entry.message : undefined;
    if (entry.type === "custom_message" ? entry.display === false : message?.role === "custom" && message.display === false)
      this.count("hidden");
    if (toolOutput === "none" && (message?.role === "toolResult" || message?.role === "bashExecution")) this.count("output");
  }

  /** One line for a person; undefined: nothing was left out. */
  line(): string | undefined {
    if (this.#counts.size === 0) return undefined;
    return `Left out of this page: ${[...this.#counts].map(([kind, times]) => counted(times, ...NAMES[kind])).join(", ")}.`;
  }
}
