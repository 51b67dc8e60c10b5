import type { EntryId } from "@bough/session-core";
import { counted } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { entryLink } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { withoutMarks } from "./plain-text.js";

/** A branch that leaves a branch point. */
export interface ForkItem {
  /** Its first entry that is shown. */
  readonly id: EntryId;
  /** The row number of its first entry. */
  readonly row: number;
  /** Its first message. */
  readonly text: string;
  readonly label: string | undefined;
  /** Entries from its first one to its newest. */
  readonly entries: number;
  /** The time of its newest entry. */
  readonly activeAtMs: number;
  /** The address of its comparison with the first branch; undefined: there is none. */
  readonly compare?: string | undefined;
}

/** The choice of branches after a branch point; nothing without any. `after`: the step that it stands below. */
export function forkHtml(after: number, items: readonly ForkItem[]): Html {
  if (items.length === 0) return NOTHING;
  return html`<nav class="fork" data-after="${after}" aria-label="Branches"><p>${counted(items.length, "branch", "branches")} from here:</p><ul>${joinHtml(items.map(itemHtml))}</ul></nav>`;
}

function itemHtml({ id, row, text, label, entries, activeAtMs, compare }: ForkItem): Html {
  const marked = label === undefined ? NOTHING : html` <span class="label">${label}</span>`;
  const facts = [counted(entries, "entry", "entries"), dateTime(activeAtMs)].filter((fact) => fact !== "").join(", ");
  const compared = compare === undefined ? NOTHING : html` <a class="compare" href="${compare}">Compare with the first</a>`;
  return html`<li><a class="branch" data-row="${row}" href="${entryLink(id)}">${withoutMarks(text)}</a>${marked} <span class="size">${facts}</span>${compared}</li>`;
}
