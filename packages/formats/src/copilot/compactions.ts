import type { EntryId } from "@bough/session-core";
import { type JsonObject, numberAt, objectsAt, stringAt, textsAt } from "@bough/session-core/wire";
import { type KeptEntries, keptEntries } from "../source/payloads.js";

/** The number of compactions without an end that are remembered: a compaction that a crash cut off never ends. */
const MOST_OPEN = 200;

/** The limits of the prompts that Copilot repeats beside a summary: of more, it repeats the first ones and the last ones. */
const MOST_PROMPTS = 20;
const MOST_CHARS = 30_000;
const LAST_SHARE = 0.8;

/** A prompt of the user. */
interface Prompt {
  readonly id: EntryId;
  readonly chars: number;
}

/** A compaction that has started: the entries since then, which it keeps. */
interface OpenCompaction {
  readonly attempt: string | null;
  readonly kept: readonly EntryId[];
}

/**
 * The compactions of a conversation of Copilot CLI. The conversation continues during a compaction, so a compaction keeps the entries since
 * its start, and the prompts of the user, which Copilot repeats in the message of the summary before it. Memory: an id for each prompt.
 */
export class Compactions {
  #open: readonly OpenCompaction[];
  #prompts: readonly Prompt[];
  /** The last reply and the entries after it. */
  #recent: readonly EntryId[];

  /** `state`: that of an earlier reading. */
  constructor(state: JsonObject = {}) {
    this.#open = objectsAt(state, "compactions").map((one) => ({
      attempt: stringAt(one, "attempt") ?? null,
      kept: [...(stringAt(one, "firstKept") === undefined ? [] : [stringAt(one, "firstKept") ?? ""]), ...textsAt(one, "kept")],
    }));
    this.#prompts = objectsAt(state, "prompts").map((one) => ({ id: stringAt(one, "id") ?? "", chars: numberAt(one, "chars") ?? 0 }));
    this.#recent = textsAt(state, "recent");
  }

  /** The state from which a later reading continues. */
  get state(): JsonObject {
    return { compactions: this.#open, prompts: this.#prompts, recent: this.#recent };
  }

  start(attempt: string | undefined): void {
    this.#open = [...this.#open, { attempt: attempt ?? null, kept: [] }].slice(-MOST_OPEN);
  }

  /** A message of the conversation. */
  add(id: EntryId, role: "prompt" | "reply" | "other", chars: number): void {
    this.#recent = role === "reply" ? [id] : role === "prompt" ? [] : [...this.#recent, id];
    if (role === "prompt") this.#prompts = [...this.#prompts, { id, chars }];
    this.#open = this.#open.map((one) => ({ ...one, kept: [...one.kept, id] }));
  }

  /** A result of this reply follows: the results of a reply are kept together with it. */
  keepReply(id: EntryId): void {
    const from = this.#recent[0] === id ? this.#recent : [id];
    this.#open = this.#open.map((one) => (one.kept.length === 0 ? { ...one, kept: from } : one));
  }

  /** The program was started again: a compaction that it had begun before has no end. */
  restart(): void {
    this.#open = [];
  }

  /** The conversation starts anew. */
  clear(): void {
    [this.#open, this.#prompts, this.#recent] = [[], [], []];
  }

  /**
   * The end of the compaction that started as this attempt, else of the last one. Without prompts of the user before, it keeps all from the
   * first one on.
   */
  end(attempt: string | undefined): KeptEntries {
    const ended = this.#open.findLast((one) => one.attempt === (attempt ?? null)) ?? this.#open.at(-1);
    this.#open = this.#open.filter((one) => one !== ended);
    const kept = ended?.kept ?? [];
    const prompts = selectPrompts(this.#prompts.filter(({ id }) => !kept.includes(id))).map(({ id }) => id);
    return keptEntries(prompts, kept);
  }
}

/** The prompts that the message with a summary repeats. Read in Copilot CLI 1.0.40; it cuts a single longer prompt, which is whole here. */
function selectPrompts(prompts: readonly Prompt[]): readonly Prompt[] {
  const chars = prompts.reduce((sum, prompt) => sum + prompt.chars, 0);
  if (chars <= MOST_CHARS && prompts.length <= MOST_PROMPTS) return prompts;
  const last = fitting(prompts.toReversed(), MOST_CHARS * LAST_SHARE, MOST_PROMPTS * LAST_SHARE).toReversed();
  const before = prompts.slice(0, prompts.length - last.length);
  return [...fitting(before, MOST_CHARS * (1 - LAST_SHARE), MOST_PROMPTS * (1 - LAST_SHARE)), ...last];
}

/** The first ones that fit; at least one. */
function fitting(prompts: readonly Prompt[], mostChars: number, most: number): readonly Prompt[] {
  let chars = 0;
  const count = prompts.findIndex((prompt, at) => {
    chars += prompt.chars;
    return at > 0 && (at >= Math.round(most) || chars > mostChars);
  });
  return count === -1 ? prompts : prompts.slice(0, count);
}
