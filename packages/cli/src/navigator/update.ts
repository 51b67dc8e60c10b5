import { actionOf } from "../tui/key-table.js";
import { still, type TerminalEvent } from "../tui/screen.js";
import type { NavigatorModel, NavigatorNews, NavigatorTree } from "./model.js";
import { laidOut, laidOutAnew, type NavigatorStep, settled } from "./select.js";
import { inDialog } from "./update-dialog.js";
import { listAction } from "./update-list.js";
import { badQuery, foundHits, typedInSearch } from "./update-search.js";

/** The navigator after a key, a paste, a new size, or news. Pure, but for the index of the tree, which grows. */
export function update(model: NavigatorModel, event: TerminalEvent | NavigatorNews): NavigatorStep {
  switch (event.kind) {
    case "resize":
      return settled({ ...model, size: event.size });
    case "key":
    case "paste":
      return typed(model, event);
    default:
      return heard(model, event);
  }
}

/** A notice goes with the next key, wherever that leads: it stands where the hints are. */
function typed(before: NavigatorModel, event: Extract<TerminalEvent, { kind: "key" | "paste" }>): NavigatorStep {
  const model = before.notice === null ? before : { ...before, notice: null };
  if (model.dialog.kind !== "none") return inDialog(model, event);
  const { search } = model;
  const inField = search?.isTyping === true ? typedInSearch(model, search, event) : undefined;
  if (inField !== undefined) return inField;
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  return action === undefined ? still(model) : listAction(model, action);
}

function heard(model: NavigatorModel, news: NavigatorNews): NavigatorStep {
  switch (news.kind) {
    case "loaded":
      return loaded(model, news.tree);
    case "changed":
      return changed(model, news);
    case "previewed":
      return previewed(model, news);
    case "hits":
      return foundHits(model, news);
    case "badQuery":
      return badQuery(model, news.question, news.problem);
    case "moved":
      return still({ ...model, result: news.result });
    case "said":
      return still({ ...model, notice: { text: news.text, isError: news.isError } });
    case "worked":
      return still({ ...model, dialog: { kind: "none" }, notice: { text: news.text, isError: news.isError } });
    case "compared":
      // What was opened meanwhile stays: it may hold something typed, or work that must remain cancellable.
      return model.dialog.kind === "none"
        ? still({ ...model, dialog: { kind: "comparison", lines: news.lines, scroll: 0 } })
        : still(model);
    case "tick":
      return still(ticked(model, news.nowMs));
    case "gone":
      return still({ ...model, result: { kind: "gone" } });
  }
}

/** Only the world knows the time: work counts from the first tick after it was asked for. */
function ticked(model: NavigatorModel, nowMs: number): NavigatorModel {
  const { dialog } = model;
  return { ...model, nowMs, dialog: dialog.kind === "working" ? { ...dialog, sinceMs: dialog.sinceMs ?? nowMs } : dialog };
}

/** It opens where the session stands. */
function loaded(model: NavigatorModel, tree: NavigatorTree): NavigatorStep {
  const selected = tree.leafId === null ? tree.index.size - 1 : tree.index.placeOf(tree.leafId);
  return laidOut({ ...model, tree, selected, top: 0 });
}

/** Another writer, or this screen itself, changed the session. The selected entry stays selected. */
function changed(model: NavigatorModel, news: Extract<NavigatorNews, { kind: "changed" }>): NavigatorStep {
  const { tree } = model;
  if (tree === undefined) return still(model);
  tree.index.append(news.rows);
  const labels = new Map(news.labels.map(({ entryId, label }) => [entryId, label]));
  // The preview tells of labels and branches too: it is asked for again.
  const preview = { ...model.preview, width: 0 };
  return laidOutAnew({ ...model, preview, tree: { ...tree, labels, leaves: news.leaves, leafId: news.leafId } });
}

/** Lines for a row that is no longer selected come too late. */
function previewed(model: NavigatorModel, { entryId, width, lines }: Extract<NavigatorNews, { kind: "previewed" }>): NavigatorStep {
  const { preview } = model;
  if (preview.entryId !== entryId || preview.width !== width) return still(model);
  return settled({ ...model, preview: { ...preview, lines } });
}
