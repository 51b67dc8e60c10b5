// A reply in which the provider compacted the conversation: its entries are a compaction, and the messages before and after it.
import { assistantMessage } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import type { NativeCompaction } from "../../entry/native-compaction.js";
import { listIterations, toOwnUsage } from "../../entry/usage.js";
import { textIn } from "./replies.js";
import { opaqueSummaryText } from "./templates.js";

/** Provider and model of a reply. */
interface ReplyModel {
  readonly provider: string;
  readonly model: string | undefined;
}

/** Members of a reply that describe all of it; they belong to its last entry. */
interface ReplyEnd extends ReplyModel {
  readonly usage: JsonObject | undefined;
  readonly stopReason: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly responseId: string | undefined;
}

/** Makes the entries of a reply whose blocks and compactions are added in their order. */
export class ReplyEntries {
  readonly #made: ReplyModel;
  readonly #entries: EntryInput[] = [];
  /** The last compaction, until it is known whether something follows. */
  #compaction: { readonly native: NativeCompaction; readonly summary: string; readonly usage: JsonObject | undefined } | undefined;
  #blocks: AssistantBlock[] = [];

  constructor(made: ReplyModel) {
    this.#made = made;
  }

  addBlocks(blocks: readonly AssistantBlock[]): void {
    this.#blocks.push(...blocks);
  }

  /** Adds a compaction. `summary`: its text; undefined: only the provider can read the items. `usage`: its own, if that is reported apart. */
  addCompaction(items: readonly JsonObject[], summary: string | undefined, usage?: JsonObject): void {
    this.#endCompaction();
    if (this.#blocks.length > 0) this.#entries.push(assistantMessage(this.#blocks, { ...this.#made }));
    this.#blocks = [];
    const native = { ...this.#made, items, readable: summary !== undefined };
    this.#compaction = { native, summary: summary ?? opaqueSummaryText(this.#made.provider, promptsIn(items)), usage };
  }

  /** The entries. The usage of the reply belongs to its last message, or to its last compaction if no message follows. */
  end({ usage, ...end }: ReplyEnd): EntryInput[] {
    const isLast = this.#compaction !== undefined && this.#blocks.length === 0;
    this.#endCompaction(isLast ? { usage, responseId: end.responseId } : {});
    return isLast ? this.#entries : [...this.#entries, assistantMessage(this.#blocks, { ...end, usage })];
  }

  #endCompaction({ usage: ofReply, responseId }: Partial<Pick<ReplyEnd, "usage" | "responseId">> = {}): void {
    if (this.#compaction === undefined) return;
    const { native, summary, usage: own } = this.#compaction;
    const usage =
      own === undefined || ofReply === undefined ? (own ?? ofReply) : { ...ofReply, iterations: [...listIterations(ofReply), own] };
    this.#compaction = undefined;
    this.#entries.push({
      type: "compaction",
      summary,
      firstKeptEntryId: null,
      trigger: PROVIDER_TRIGGER,
      details: { native },
      ...this.#made,
      ...(usage === undefined ? {} : { usage: toOwnUsage(usage, "usage") }),
      ...(responseId === undefined ? {} : { responseId }),
    });
  }
}

/** The trigger of a compaction that the provider started, by its threshold or at the host's request. */
const PROVIDER_TRIGGER = "provider";

/** The texts of the user's messages that the items of `/responses/compact` contain. */
function promptsIn(items: readonly JsonObject[]): readonly string[] {
  return items.flatMap((item) => {
    if (item["role"] !== "user") return [];
    const { content } = item;
    if (typeof content === "string") return [content];
    return Array.isArray(content)
      ? [
          content
            .filter(isObject)
            .flatMap((part) => textIn(part, "text") ?? [])
            .join("\n"),
        ]
      : [];
  });
}
