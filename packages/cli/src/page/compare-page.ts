import type { OutlineRow } from "@bough/session-core";
import { counted } from "@bough/session-core/view";
import { type ComparedSide, loadComparison } from "../preview/comparison.js";
import { NONE } from "../tree/tree-index.js";
import { textHtml } from "./content.js";
import { bareDocument } from "./document.js";
import { type Html, html, joinHtml, NOTHING, renderedHtml } from "./html.js";
import { withoutMarks } from "./plain-text.js";
import type { ServedPage } from "./served-page.js";
import type { ServedSession } from "./served-session.js";
import { filesHtml } from "./step.js";

/** Entries of a side that are shown in full; the others are counted. */
const MAX_ENTRIES = 200;

/** Two branches side by side, below their last common entry: what the navigator's comparison says, and the entries of both. */
export async function* comparePage(served: ServedSession, page: ServedPage, a: number, b: number): AsyncGenerator<string, void, void> {
  if (a === NONE || b === NONE) {
    yield bareDocument("Compare", html`<h1>Compare</h1><p>One of the two entries is not in this session.</p>`).text;
    return;
  }
  const { index, session } = served;
  // The branch through an entry reaches to its end; two entries of one branch are compared as they are.
  const ends = [served.endOf(a), served.endOf(b)] as const;
  const [endA, endB] = ends[0] === ends[1] ? [a, b] : ends;
  const comparison = await loadComparison(
    session,
    { entryId: index.idOf(a), endId: index.idOf(endA) },
    { entryId: index.idOf(b), endId: index.idOf(endB) },
  );
  const { commonAncestor, left, right, filesInBoth, onlyLeft, onlyRight } = comparison;
  const from = commonAncestor === undefined ? NONE : index.indexOf(commonAncestor.id);
  const mask = (text: string) => page.masks.maskLine(text);
  const both =
    commonAncestor === undefined
      ? html`<p>They share no entry.</p>`
      : html`<p>Both after <a href="${page.address}#e=${commonAncestor.id}">${nameOf(commonAncestor, served, page)}</a></p>`;
  const files = html`${filesHtml("Touched in both", filesInBoth.map(mask))}${filesHtml("Only in A", onlyLeft.map(mask))}${filesHtml("Only in B", onlyRight.map(mask))}`;
  const sides = [await sideHtml("A", left, served, page, from, endA), await sideHtml("B", right, served, page, from, endB)];
  yield bareDocument(
    "Two branches",
    html`<p><a href="${page.address}">Back to the session</a></p><h1>Two branches</h1>${both}${files}<div class="sides">${joinHtml(sides)}</div>`,
  ).text;
}

async function sideHtml(
  name: string,
  side: ComparedSide,
  served: ServedSession,
  page: ServedPage,
  from: number,
  end: number,
): Promise<Html> {
  const { entries, messages, filesModified, filesRead, summary, label, marked } = side;
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}; ${counted(filesModified.length, "file")} modified, ${filesRead.length} only read`;
  const rows = [...served.pathTo(end)].filter((row) => row > from);
  let articles = "";
  for await (const piece of page.entries(rows.slice(0, MAX_ENTRIES))) articles += piece;
  const more =
    rows.length > MAX_ENTRIES ? html`<p class="note">and ${counted(rows.length - MAX_ENTRIES, "more entry", "more entries")}</p>` : NOTHING;
  const title = marked === undefined ? "" : nameOf(marked, served, page);
  const badge = label === null ? NOTHING : html` <span class="label">${page.masks.maskLine(label)}</span>`;
  const summed = summary === null ? NOTHING : html`<h3>Summary</h3>${textHtml(page.masks.maskValue(summary.text), 4)}`;
  return html`<section aria-labelledby="side-${name}"><h2 id="side-${name}">${name}${badge} <a href="${page.address}#e=${marked?.id ?? ""}">${title}</a></h2><p class="note">${entries === 0 ? "No entries of its own." : figures}</p>${summed}${renderedHtml(articles)}${more}</section>`;
}

/** The text of an entry in one line; nothing of a command that was kept out of the conversation. */
function nameOf({ id, preview }: OutlineRow, served: ServedSession, { masks }: ServedPage): string {
  return served.isPrivate(served.index.indexOf(id)) ? "A private command" : withoutMarks(masks.maskLine(preview));
}
