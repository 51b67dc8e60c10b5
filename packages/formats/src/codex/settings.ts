import { hash } from "node:crypto";
import { type JsonObject, objectAt, stringAt, tryStringify, without, withoutUndefined } from "@bough/session-core/wire";

/** The model of a reply; empty if it is not known. */
export interface ModelFields {
  readonly provider?: string;
  readonly model?: string;
}

/** The settings at a place of a rollout, where only changes become entries. */
export class SettingsReader {
  #provider: string | undefined;
  #model: string | undefined;
  #effort: string | undefined;
  /** A hash of the other settings of a turn. */
  #context: string | undefined;
  /** A hash of the system message. */
  #system: string | undefined;

  /** `state`: that of an earlier reading. */
  constructor(state: JsonObject = {}) {
    this.#provider = stringAt(state, "provider");
    this.#model = stringAt(state, "model");
    this.#effort = stringAt(state, "effort");
    this.#context = stringAt(state, "context");
    this.#system = stringAt(state, "system");
  }

  get state(): JsonObject {
    const [provider, model, effort, context, system] = [this.#provider, this.#model, this.#effort, this.#context, this.#system];
    return withoutUndefined({ provider, model, effort, context, system });
  }

  get model(): ModelFields {
    return this.#model === undefined ? {} : withoutUndefined({ provider: this.#provider, model: this.#model });
  }

  /** Reads the data of the session. Returns its system message; undefined: it has none, or a fork repeats that of its source. */
  readMeta(meta: JsonObject): string | undefined {
    this.#provider = stringAt(meta, "model_provider");
    const text = stringAt(objectAt(meta, "base_instructions") ?? {}, "text");
    const system = digestOf(text);
    if (text === undefined || text === "" || system === this.#system) return undefined;
    this.#system = system;
    return text;
  }

  /** Returns the payloads of the changed settings. `isTurn`: they are all settings of a turn, not only those of the model. */
  read(given: JsonObject, isTurn: boolean): readonly JsonObject[] {
    return [...this.#readModel(given), ...this.#readEffort(given), ...(isTurn ? this.#readContext(given) : [])];
  }

  /** After a rollback: the settings of the turns that were left are not on the path, so the next ones are changes. */
  forget(): void {
    [this.#model, this.#effort, this.#context] = [undefined, undefined, undefined];
  }

  #readModel(given: JsonObject): readonly JsonObject[] {
    const [model, provider] = [stringAt(given, "model"), stringAt(given, "model_provider_id") ?? this.#provider];
    if (model === undefined || (model === this.#model && provider === this.#provider)) return [];
    [this.#model, this.#provider] = [model, provider];
    return [withoutUndefined({ type: "model_change", provider, modelId: model })];
  }

  #readEffort(given: JsonObject): readonly JsonObject[] {
    const effort = stringAt(given, "effort") ?? stringAt(given, "reasoning_effort");
    if (effort === undefined || effort === this.#effort) return [];
    this.#effort = effort;
    return [{ type: "thinking_level_change", thinkingLevel: effort }];
  }

  #readContext(given: JsonObject): readonly JsonObject[] {
    const data = without(given, PER_TURN);
    const context = digestOf(data);
    if (context === this.#context) return [];
    this.#context = context;
    return [{ type: "custom", customType: "codex.turn_context", data }];
  }
}

/** Settings that differ in each turn, and those that are entries of their own. */
const PER_TURN = ["turn_id", "root_turn_id", "trace_id", "model", "effort"];

function digestOf(value: unknown): string {
  const text = tryStringify(value) ?? "";
  return hash("sha256", text, "base64").slice(0, 12);
}
