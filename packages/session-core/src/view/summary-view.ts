import type { FileLists, PayloadOf } from "../entry/entry.js";
import { isObject } from "../entry/json.js";
import type { Usage } from "../entry/message.js";
import { nativeCompactionOf } from "../entry/native-compaction.js";
import { count, counted } from "../text/numbers.js";
import { readableSummary } from "../text/summary-text.js";
import { costText, PriceList } from "./prices.js";
import type { SummaryPart, ViewField } from "./view.js";

type Summary = PayloadOf<"compaction"> | PayloadOf<"branch_summary">;

/** The facts of a compaction or branch summary. */
export function summaryFields(payload: Summary, prices?: PriceList): readonly ViewField[] {
  const { readFiles, modifiedFiles } = summaryFiles(payload);
  return [
    ...field("usage", usageText(payload.usage, textOrNull(payload.provider) ?? "", textOrNull(payload.model) ?? "", prices)),
    ...(payload.type === "compaction" ? compactionFields(payload) : field("branch tip", payload.fromId ?? "(unknown)")),
    ...field("covers", coverageText(payload["covers"])),
    ...field("written as", textOrNull(payload["method"])),
    ...field("fidelity", describeFidelity(payload["fidelity"])),
    ...field("files read", readFiles.join(", ")),
    ...field("files modified", modifiedFiles.join(", ")),
  ];
}

function compactionFields(payload: PayloadOf<"compaction">): readonly ViewField[] {
  const { tokensBefore, tokensAfter } = payload;
  const isKnown = tokensBefore !== undefined || tokensAfter !== undefined;
  const tokens = [tokensBefore, tokensAfter].map((figure) => (figure === undefined ? "?" : count(figure))).join(" → ");
  return [
    ...field("title", payload.title),
    ...field("first kept entry", payload.firstKeptEntryId ?? "none"),
    ...field("tokens", isKnown ? tokens : null),
    ...field("trigger", payload.trigger),
    ...field("provider's own", nativeText(payload)),
    ...field("instructions", payload.instructions),
  ];
}

/** The provider's own form of a summary in a few words, such as `openai/gpt-6-sol, 1 item, encrypted`; null: there is none. */
function nativeText(payload: PayloadOf<"compaction">): string | null {
  const native = nativeCompactionOf(payload);
  if (native === undefined) return null;
  const { provider, model, items, readable } = native;
  return [model === undefined ? provider : `${provider}/${model}`, counted(items.length, "item"), readable ? "readable" : "encrypted"].join(
    ", ",
  );
}

// Members that @bough/compaction adds to a summary. Other programs write summaries without them, or with other values.
function coverageText(covers: unknown): string | null {
  if (!isObject(covers) || typeof covers["fromEntryId"] !== "string" || typeof covers["toEntryId"] !== "string") return null;
  const { entries, messages, fromEntryId, toEntryId } = covers;
  const figures = [
    ...(typeof entries === "number" ? [counted(entries, "entry", "entries")] : []),
    ...(typeof messages === "number" ? [counted(messages, "message")] : []),
  ];
  return [...figures, `${fromEntryId} → ${toEntryId}`].join(", ");
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The text of a compaction or branch summary. */
export function viewSummary(payload: Summary): SummaryPart {
  const isCompaction = payload.type === "compaction";
  return {
    type: "summary",
    of: isCompaction ? "conversation" : "branch",
    text: withoutFileBlocks(readableSummary(payload.summary)),
    stored: payload.summary,
    ...summaryFiles(payload),
    tokensBefore: isCompaction ? payload.tokensBefore : undefined,
    tokensAfter: isCompaction ? payload.tokensAfter : undefined,
    fromId: isCompaction ? null : payload.fromId,
  };
}

/**
 * Describes how many facts of the source a summary contains; null: `stored` is no fidelity of `@bough/compaction`. Another program may
 * have written it in part.
 */
export function describeFidelity(stored: unknown): string | null {
  if (!isObject(stored) || typeof stored["score"] !== "number") return null;
  const { total, inSummary } = stored;
  const score = stored["score"].toFixed(2);
  if (typeof total !== "number") return `${score} of 1`;
  const parts = isObject(inSummary) ? Object.values(inSummary) : [];
  if (!isObject(inSummary) || !parts.every((part) => typeof part === "number")) return `${counted(total, "fact")} (${score} by weight)`;
  if (total === 0) return "no facts to check";
  return `${count(parts.reduce((sum, part) => sum + part, 0))} of ${count(total)} facts (${score} by weight)`;
}

/** A field, if it has a value. */
export function field(name: string, value: string | number | null | undefined): readonly ViewField[] {
  return value === undefined || value === null || value === "" ? [] : [{ name, value }];
}

/** A model with its provider; "" if neither is known. */
export function modelName(provider: string | undefined, model: string | undefined): string {
  return [provider, model].filter((part) => part !== undefined).join("/");
}

const TABLE_PRICES = new PriceList();

/** The usage of a reply in words; "" if it is unknown. A cost that is not stored is estimated. */
export function usageText(usage: Usage | undefined, provider: string, model: string, prices = TABLE_PRICES): string {
  if (usage === undefined) return "";
  const parts = [`${count(usage.input ?? 0)} in`, `${count(usage.output ?? 0)} out`];
  if ((usage.cacheRead ?? 0) > 0) parts.push(`${count(usage.cacheRead ?? 0)} from cache`);
  if ((usage.cacheWrite ?? 0) > 0) parts.push(`${count(usage.cacheWrite ?? 0)} to cache`);
  const cost = prices.costOfUsage(usage, provider, model);
  if (cost !== null) parts.push(costText(cost));
  return parts.join(", ");
}

const FILE_BLOCK = /\n?<(modified-files|read-files)>\n([^<]*)\n?<\/\1>/g;

/** A summary without the lists of files for the model, which pi and Bough write at its end. */
function withoutFileBlocks(summary: string): string {
  return summary.replace(FILE_BLOCK, "");
}

/**
 * The files that a summary names, each once: those in its `details`, or else those in its text. Hooks and other programs write details
 * of any shape; what is no list of texts is ignored.
 *
 * @example
 * summaryFiles({ summary: "Fixed it.\n<modified-files>\na.ts\n</modified-files>" }); // { readFiles: [], modifiedFiles: ["a.ts"] }
 */
export function summaryFiles({ summary, details }: { readonly summary: string; readonly details?: unknown }): FileLists {
  const inText = new Map([...summary.matchAll(FILE_BLOCK)].map(([, name = "", lines = ""]) => [name, namesIn(lines)]));
  const listed = (key: string, name: string) => {
    const files = textsAt(details, key);
    return [...new Set(files.length === 0 ? (inText.get(name) ?? []) : files)];
  };
  return { readFiles: listed("readFiles", "read-files"), modifiedFiles: listed("modifiedFiles", "modified-files") };
}

function namesIn(lines: string): readonly string[] {
  return lines
    .split("\n")
    .map((line) => line.trim().replace(/^[-*] /, ""))
    .filter((line) => line !== "");
}

function textsAt(details: unknown, key: string): readonly string[] {
  const files = isObject(details) ? details[key] : undefined;
  return Array.isArray(files) ? files.filter((file): file is string => typeof file === "string" && file.trim() !== "") : [];
}
