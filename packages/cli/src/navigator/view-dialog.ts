import { counted } from "@bough/session-core/view";
import { wrapLine } from "../format/wrap.js";
import { sessionTitle } from "../session/names.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import { visibleField } from "../tui/field.js";
import { helpLines } from "../tui/key-table.js";
import { type Frame, type FrameLine, plainLine } from "../tui/screen.js";
import type { Dialog, NavigatorModel } from "./model.js";

/** The choices about a branch that is left, in the order shown. Their indices are stored as the last choice. */
export const LEAVING_CHOICES = ["No summary", "A summary of the branch you leave", "A summary with a focus …"] as const;

/** The lines of a dialog; the position of the cursor is relative to them. */
export type DialogView = Pick<Frame, "lines" | "cursor">;

/** The open dialog below a rule, for a body of `rows` lines, whose lowest lines it covers. Without a dialog there are no lines. */
export function viewDialog(model: NavigatorModel, rows: number): DialogView {
  const { lines, cursor } = viewContent(model, rows);
  if (model.dialog.kind === "none") return { lines };
  const rule = plainLine(styled("dim", model.glyphs.rule.repeat(model.size.columns)));
  return { lines: [rule, ...lines], cursor: cursor && { row: cursor.row + 1, column: cursor.column } };
}

function viewContent(model: NavigatorModel, rows: number): DialogView {
  const { dialog, glyphs } = model;
  const { columns } = model.size;
  // Questions and the keys that answer them are wrapped, not cut, so that a narrow terminal shows all of them.
  const wholeText = (line: Line): DialogView => ({ lines: wrappedLines(line, columns) });
  switch (dialog.kind) {
    case "none":
      return { lines: [] };
    case "help":
      return viewScrolled(helpLines(model.keys, columns, glyphs), dialog.scroll, model, rows);
    case "comparison":
      return viewScrolled(dialog.lines, dialog.scroll, model, rows);
    case "label":
      return viewField("Label: ", dialog, columns, "Enter saves the label, Esc cancels. An empty label is removed.");
    case "focus":
      return viewField("Focus of the summary: ", dialog, columns, "Enter writes the summary, Esc goes back.");
    case "exporting":
      return viewField(
        "Export to: ",
        dialog,
        columns,
        "Enter writes the path to this entry as Markdown, Esc cancels. Edit the name of the file.",
      );
    case "forking":
      return wholeText([
        `Fork: a new session with the ${counted(dialog.count, "entry", "entries")} up to here. `,
        styled("dim", "Enter forks and opens it, n forks and stays here, Esc cancels. This session does not change."),
      ]);
    case "subagents":
      return viewSubagents(dialog, model, rows);
    case "leaving":
      return viewLeaving(dialog, model);
    case "compacting":
      return wholeText([
        `Summarize the ${counted(dialog.count, "entry", "entries")} before this one? `,
        styled("dim", "y/n. They stay in the tree, and it can be undone."),
      ]);
    case "working":
      return wholeText(workLine(dialog, model));
  }
}

/** Lines of a scrolled text that a body of `body` lines shows, without the rule above and the line below. */
export function scrollableRows(body: number): number {
  return Math.max(body - 2, 1);
}

function viewScrolled(lines: readonly Line[], scroll: number, { size, glyphs }: NavigatorModel, body: number): DialogView {
  const rows = scrollableRows(body);
  const from = Math.min(scroll, Math.max(lines.length - rows, 0));
  const shown = lines.slice(from, from + rows).map((line) => plainLine(...fitLine(line, size.columns, glyphs.ellipsis)));
  const rest = lines.length - from - shown.length;
  const padding = Array.from({ length: rows - shown.length }, () => plainLine());
  const hint = rest > 0 ? `${glyphs.ellipsis} ${counted(rest, "more line")}; Esc closes` : "Esc closes";
  const end = plainLine(...fitLine([styled("dim", hint)], size.columns, glyphs.ellipsis));
  return { lines: [...shown, ...padding, end] };
}

function viewField(name: string, { field }: Extract<Dialog, { field: unknown }>, columns: number, hint: string): DialogView {
  // On a narrow terminal a short name leaves more columns for the field.
  const shownName = displayWidth(name) + 20 > columns ? "> " : name;
  const { text, column } = visibleField(field, Math.max(columns - displayWidth(shownName), 1));
  const hints = wrappedLines([styled("dim", hint)], columns);
  return {
    lines: [plainLine(styled("bold", shownName), text), ...hints],
    cursor: { row: 0, column: displayWidth(shownName) + column },
  };
}

function viewSubagents({ list, choice }: Extract<Dialog, { kind: "subagents" }>, model: NavigatorModel, rows: number): DialogView {
  const room = Math.max(rows - 2, 1);
  const from = Math.max(0, choice - room + 1);
  const texts = list.map((one, at) => `${at + 1} ${sessionTitle(one)}, ${counted(one.entryCount, "entry", "entries")}`);
  const heading = [styled("bold", `${list.length} subagents. `), styled("dim", "Enter opens one, Esc cancels.")];
  return viewChoices(heading, texts.slice(from, from + room), choice - from, model);
}

function viewLeaving({ left, choice }: Extract<Dialog, { kind: "leaving" }>, model: NavigatorModel): DialogView {
  const heading = [
    styled("bold", `Leaving ${counted(left, "entry", "entries")} behind. `),
    styled("dim", `${left === 1 ? "It stays" : "They stay"} in the tree.`),
  ];
  const texts = LEAVING_CHOICES.map((text, at) => `${at + 1} ${text.replace("…", model.glyphs.ellipsis)}`);
  return viewChoices(heading, texts, choice, model);
}

/** A heading and choices, of which one is marked. */
function viewChoices(heading: Line, texts: readonly string[], marked: number, { size, glyphs }: NavigatorModel): DialogView {
  const fitted = (line: Line) => fitLine(line, size.columns, glyphs.ellipsis);
  const choices = texts.map((text, at): FrameLine => {
    const isSelected = at === marked;
    return { line: fitted([isSelected ? styled("leaf", `${glyphs.cursor} `) : "  ", text]), isSelected };
  });
  return { lines: [plainLine(...fitted(heading)), ...choices] };
}

function workLine({ text, sinceMs, isCancelled }: Extract<Dialog, { kind: "working" }>, { nowMs, glyphs }: NavigatorModel): Line {
  const seconds = Math.max(Math.floor((nowMs - (sinceMs ?? nowMs)) / 1000), 0);
  const spin = glyphs.spinner[seconds % glyphs.spinner.length] ?? "";
  if (isCancelled) return [styled("dim", `${spin} Cancelling`)];
  return [styled("summary", `${spin} ${text}`), styled("dim", ` ${seconds} s  Esc cancels`)];
}

/** The space at which a line was broken may be one column too wide, so each part is cut too. */
function wrappedLines(line: Line, columns: number): readonly FrameLine[] {
  return wrapLine(line, columns).map((part) => plainLine(...fitLine(part, columns, "")));
}
