import { type JsonObject, millisecondsOf, objectAt, stringAt } from "../../source/narrow.js";
import { promptDigest } from "./derived-id.js";
import { spokenText } from "./injected.js";
import type { ChainFacts } from "./session-file.js";

/** The sessions inside one file while it is read: the conversation, and a sidechain for each agent. */
export class Chains {
  readonly facts: ChainFacts[] = [{ key: "", records: 0 }];
  readonly #byKey = new Map<string, number>();

  /**
   * Which session a record belongs to.
   * @param agent whose file it is, by its name; the records of old ones do not say it.
   */
  of(record: JsonObject, parentChain: number, agent: string | undefined): number {
    const agentId = stringAt(record, "agentId");
    if (record.isSidechain !== true && (agent === undefined || agentId === undefined)) return 0;
    const named = agentId ?? agent;
    if (named === undefined && parentChain > 0) return parentChain;
    return this.#keyed(named ?? stringAt(record, "uuid") ?? "");
  }

  #keyed(key: string): number {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.#byKey.set(key, this.facts.length);
    return this.facts.push({ key, records: 0 }) - 1;
  }

  /** Takes from a record what no earlier record of its session said. */
  learn(chain: number, record: JsonObject): void {
    const facts = this.facts[chain];
    if (facts === undefined) return;
    if (typeof record.uuid === "string") facts.records += 1;
    facts.createdAtMs ??= millisecondsOf(record.timestamp);
    facts.cwd ??= stringAt(record, "cwd");
    facts.gitBranch ??= stringAt(record, "gitBranch");
    facts.version ??= stringAt(record, "version");
    facts.recordedSessionId ??= stringAt(record, "sessionId");
    if (chain > 0 && facts.promptDigest === undefined) facts.promptDigest = digestOfPrompt(record);
  }
}

function digestOfPrompt(record: JsonObject): string | undefined {
  const text = record.type === "user" ? spokenText(objectAt(record, "message")?.content) : "";
  return text === "" ? undefined : promptDigest(text);
}
