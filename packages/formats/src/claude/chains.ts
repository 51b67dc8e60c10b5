import { type JsonObject, objectAt, parseTime, stringAt } from "@bough/session-core/wire";
import { promptDigest } from "./ids.js";
import { textWithoutReminders } from "./record-kind.js";
import type { SavedTitles } from "./saved-transcript.js";
import type { ChainFacts } from "./session-file.js";

/** Collects the sessions of a file: the conversation, and a sidechain for each agent. */
export class Chains {
  readonly facts: ChainFacts[];
  readonly #byKey: Map<string, number>;

  /** `facts`: those of an earlier reading. */
  constructor(facts: readonly ChainFacts[] = [{ key: "", records: 0 }]) {
    this.facts = facts.map((one) => ({ ...one }));
    this.#byKey = new Map(facts.flatMap(({ key }, chain) => (chain === 0 ? [] : [[key, chain] as const])));
  }

  /**
   * The session of a record.
   * @param agent the agent in the file's name; old records do not contain it.
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

  /** Adds the facts of a record that no earlier record of its session has. */
  addFacts(chain: number, record: JsonObject): void {
    const facts = this.facts[chain];
    if (facts === undefined) return;
    if (typeof record.uuid === "string") facts.records += 1;
    facts.createdAtMs ??= parseTime(record.timestamp);
    facts.cwd ??= stringAt(record, "cwd");
    facts.gitBranch ??= stringAt(record, "gitBranch");
    facts.version ??= stringAt(record, "version");
    facts.recordedSessionId ??= stringAt(record, "sessionId");
    facts.forkedFrom ??= stringAt(objectAt(record, "forkedFrom") ?? {}, "sessionId");
    if (chain > 0 && facts.promptDigest === undefined) facts.promptDigest = digestOfPrompt(record);
  }
}

function digestOfPrompt(record: JsonObject): string | undefined {
  const text = record.type === "user" ? textWithoutReminders(objectAt(record, "message")?.content) : "";
  return text === "" ? undefined : promptDigest(text);
}

/** A title in a record. */
type GivenTitle =
  | { readonly kind: "user" | "ai"; readonly title: string }
  /** For the session with the record `leafUuid`, which is often in another file. */
  | { readonly kind: "summary"; readonly title: string; readonly leafUuid: string };

/** The title of a side record; undefined for other records. */
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

/** Collects the titles of a file: of the user, of a model, and of summaries by their leaf. */
export class Titles {
  #user: string | undefined;
  #ai: string | undefined;
  readonly #summaries: SavedTitles["summaries"][number][];

  /** `saved`: those of an earlier reading. */
  constructor({ user, ai, summaries }: SavedTitles = { summaries: [] }) {
    this.#user = user;
    this.#ai = ai;
    this.#summaries = [...summaries];
  }

  /** Adds the title of a record, if it has one; the last one of a kind wins. */
  add(record: JsonObject): void {
    const title = readTitle(record);
    if (title?.kind === "user") this.#user = title.title;
    if (title?.kind === "ai") this.#ai = title.title;
    if (title?.kind === "summary") this.#summaries.push({ title: title.title, leafUuid: title.leafUuid, isHere: false });
  }

  /** The titles of this file's session. The title of a summary counts if its leaf is in the file. */
  choose(isHere: (uuid: string) => boolean): { readonly user?: string | undefined; readonly auto?: string | undefined } {
    const summary = this.save(isHere).summaries.findLast((one) => one.isHere)?.title;
    return { user: this.#user, auto: this.#ai ?? summary };
  }

  /** True if an earlier reading found the record of this summary. */
  wasHere(uuid: string): boolean {
    return this.#summaries.some(({ leafUuid, isHere }) => isHere && leafUuid === uuid);
  }

  /** The titles as a later reading needs them. */
  save(isHere: (uuid: string) => boolean): SavedTitles {
    const summaries = this.#summaries.map((one) => ({ ...one, isHere: one.isHere || isHere(one.leafUuid) }));
    return { user: this.#user, ai: this.#ai, summaries };
  }
}
