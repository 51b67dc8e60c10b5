import { type JsonObject, objectAt, parseTime, stringAt } from "../../source/json.js";
import { promptDigest } from "./ids.js";
import { textWithoutReminders } from "./record-kind.js";
import type { ChainFacts } from "./session-file.js";

/** The sessions inside one file while it is read: the conversation, and a sidechain for each agent. */
export class Chains {
  readonly facts: ChainFacts[] = [{ key: "", records: 0 }];
  readonly #byKey = new Map<string, number>();

  /**
   * Which session a record belongs to.
   * @param agent whose file it is, by its name; the records of old ones do not say it.
   */
  chainOf(record: JsonObject, parentChain: number, agent: string | undefined): number {
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
  addFacts(chain: number, record: JsonObject): void {
    const facts = this.facts[chain];
    if (facts === undefined) return;
    if (typeof record.uuid === "string") facts.records += 1;
    facts.createdAtMs ??= parseTime(record.timestamp);
    facts.cwd ??= stringAt(record, "cwd");
    facts.gitBranch ??= stringAt(record, "gitBranch");
    facts.version ??= stringAt(record, "version");
    facts.recordedSessionId ??= stringAt(record, "sessionId");
    if (chain > 0 && facts.promptDigest === undefined) facts.promptDigest = digestOfPrompt(record);
  }
}

function digestOfPrompt(record: JsonObject): string | undefined {
  const text = record.type === "user" ? textWithoutReminders(objectAt(record, "message")?.content) : "";
  return text === "" ? undefined : promptDigest(text);
}

/** A title that a record gives to the session. */
type GivenTitle =
  | { readonly kind: "user" | "ai"; readonly title: string }
  /** Of the session that has the record `leafUuid`, which is often not the session of this file. */
  | { readonly kind: "summary"; readonly title: string; readonly leafUuid: string };

/** The title that a side record gives; undefined for every other record. */
export function readTitle(record: JsonObject): GivenTitle | undefined {
  switch (record.type) {
    case "custom-title":
      return toGivenTitle("user", stringAt(record, "customTitle"));
    case "ai-title":
      return toGivenTitle("ai", stringAt(record, "aiTitle"));
    case "summary":
      return toSummaryTitle(stringAt(record, "summary"), stringAt(record, "leafUuid"));
  }
  return undefined;
}

function toGivenTitle(kind: "user" | "ai", title: string | undefined): GivenTitle | undefined {
  return title === undefined || title.trim() === "" ? undefined : { kind, title };
}

function toSummaryTitle(title: string | undefined, leafUuid: string | undefined): GivenTitle | undefined {
  return title === undefined || title.trim() === "" || leafUuid === undefined ? undefined : { kind: "summary", title, leafUuid };
}

/** The titles of a file while it is read: what a person chose, what a model proposed, summaries by their leaf. */
export class Titles {
  #user: string | undefined;
  #ai: string | undefined;
  #summaries: { readonly title: string; readonly leafUuid: string }[] = [];

  /** Notes a record if it gives a title; the last of a kind wins. */
  add(record: JsonObject): void {
    const given = readTitle(record);
    if (given?.kind === "user") this.#user = given.title;
    if (given?.kind === "ai") this.#ai = given.title;
    if (given?.kind === "summary") this.#summaries.push(given);
  }

  /** What the file says of itself: a summary counts if its leaf is in the file. */
  choose(isHere: (uuid: string) => boolean): { readonly user?: string | undefined; readonly auto?: string | undefined } {
    const summary = this.#summaries.findLast(({ leafUuid }) => isHere(leafUuid))?.title;
    return { user: this.#user, auto: this.#ai ?? summary };
  }
}
