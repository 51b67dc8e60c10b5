import { type EntryId, fileLists, type Session, type SessionRecord } from "@bough/session-core";
import { type Cost, costText, count, counted, type PriceList } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import type { Masks } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";

/** Files that are listed; the others are counted. */
const MAX_FILES = 60;

/** In sessions of more entries the changed files are not listed: reading them would delay the page. */
const MAX_ENTRIES_WITH_FILES = 20_000;

/** Texts are masked, and a cost that is not stored is estimated. */
interface FactOptions {
  /** The end of the branch that is shown. */
  readonly leafId: EntryId | null;
  /** The number of entries of the page. */
  readonly entries: number;
  /** True if the page has no other branch: then figures of the whole session are left out. */
  readonly branchOnly: boolean;
  readonly masks: Masks;
  readonly prices: PriceList;
}

/**
 * The head of a page: one line about the session, and folded its figures and the files that the branch of the leaf changed. Reads the totals
 * of the session and its file operations, no payloads but the model's.
 */
export async function factsHtml(
  session: Session,
  record: SessionRecord,
  { leafId, entries, branchOnly, masks, prices }: FactOptions,
): Promise<Html> {
  const { model } = await session.settings(leafId);
  const facts = [
    dateTime(record.createdAtMs),
    model?.modelId ?? "",
    record.cwd ?? "",
    counted(entries, "entry", "entries"),
    `session ${record.id}`,
  ];
  const line = joinHtml(
    facts.filter((fact) => fact !== "").map((fact) => html`<span>${masks.maskValue(fact)}</span>`),
    " · ",
  );
  const figures = branchOnly ? [] : await figuresOf(session, record, prices);
  const listed = figures.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  const files =
    leafId === null || entries > MAX_ENTRIES_WITH_FILES ? [] : fileLists(await session.fileOperations({ toId: leafId })).modifiedFiles;
  const summary = [...(figures.length === 0 ? [] : ["Figures"]), ...(files.length === 0 ? [] : [counted(files.length, "changed file")])];
  if (summary.length === 0) return html`<p>${line}</p>`;
  return html`<p>${line}</p><details id="facts"><summary>${summary.join(", ")}</summary><dl>${joinHtml(listed)}</dl>${filesHtml(masks.maskValue(files))}</details>`;
}

/** The figures of a whole session, by name. */
async function figuresOf(session: Session, record: SessionRecord, prices: PriceList): Promise<readonly (readonly [string, string])[]> {
  const { usage } = await session.statistics();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const figures = [
    ["Messages", count(record.messageCount)],
    ["Active", `${dateTime(record.createdAtMs)} to ${dateTime(record.activeAtMs)} (${zone})`],
    ["Tokens", tokensText(usage)],
    ["Cost", costOf(prices.total(usage))],
    ["Agent", record.source?.format ?? ""],
  ] as const;
  return figures.filter(([, value]) => value !== "");
}

function tokensText(usage: Awaited<ReturnType<Session["statistics"]>>["usage"]): string {
  const sum = (pick: (one: (typeof usage)[number]) => number) => usage.reduce((total, one) => total + pick(one), 0);
  const [input, output] = [sum((one) => one.inputTokens), sum((one) => one.outputTokens)];
  const [read, written] = [sum((one) => one.cacheReadTokens), sum((one) => one.cacheWriteTokens)];
  if (input + output + read + written === 0) return "";
  return `${count(input)} in, ${count(output)} out, cache ${count(read)} read, ${count(written)} written`;
}

function costOf(cost: Cost | null): string {
  return cost === null ? "" : costText(cost);
}

function filesHtml(files: readonly string[]): Html {
  if (files.length === 0) return NOTHING;
  const shown = files.slice(0, MAX_FILES).map((file) => html`<li><code>${file}</code></li>`);
  const more = files.length > MAX_FILES ? html`<p class="note">and ${counted(files.length - MAX_FILES, "other file")}</p>` : NOTHING;
  return html`<p>Files that this branch changed:</p><ul>${joinHtml(shown)}</ul>${more}`;
}
