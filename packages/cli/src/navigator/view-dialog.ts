import { counted } from "../format/numbers.js";
import { wrapLine } from "../format/wrap.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import { visibleField } from "../tui/field.js";
import { helpLines } from "../tui/key-table.js";
import { type FrameLine, plainLine } from "../tui/screen.js";
import type { Dialog, NavigatorModel } from "./model.js";

/** The lines of a dialog, and where the cursor stands in them. */
export interface DialogView {
  readonly lines: readonly FrameLine[];
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** What the open dialog covers the lowest lines of a body of `rows` lines with; no lines: there is none. */
export function viewDialog(model: NavigatorModel, rows: number): DialogView {
  const { dialog, size, glyphs } = model;
  const { columns } = size;
  const rule = plainLine(styled("dim", glyphs.rule.repeat(columns)));
  // What is asked and which keys answer must be seen on a narrow terminal too.
  const shown = (line: Line): DialogView => ({ lines: [rule, ...wrapped(line, columns)] });
  switch (dialog.kind) {
    case "none":
      return { lines: [] };
    case "help":
      return scrolled(helpLines(model.keys, columns, glyphs), dialog.scroll, model, rule, rows);
    case "comparison":
      return scrolled(dialog.lines, dialog.scroll, model, rule, rows);
    case "label":
      return withField("Label: ", dialog, columns, rule, "Enter keeps it, Esc leaves it as it was. Empty: no label.");
    case "focus":
      return withField("What is the summary to be about? ", dialog, columns, rule, "Enter writes it, Esc goes back.");
    case "leaving":
      return leaving(dialog, model, rule);
    case "compacting":
      return shown([
        `Summarise the ${counted(dialog.count, "entry", "entries")} before this one? `,
        styled("dim", "y/n. Nothing is lost, and it can be undone."),
      ]);
    case "working":
      return shown(workingLine(dialog, model));
  }
}

/** The space at which a line is broken may stand beyond the last column. */
function wrapped(line: Line, columns: number): readonly FrameLine[] {
  return wrapLine(line, columns).map((part) => plainLine(...fitLine(part, columns, "")));
}

function workingLine({ says, sinceMs, isCancelled }: Extract<Dialog, { kind: "working" }>, { nowMs, glyphs }: NavigatorModel): Line {
  const seconds = Math.max(Math.floor((nowMs - (sinceMs ?? nowMs)) / 1000), 0);
  const spin = glyphs.spinner[seconds % glyphs.spinner.length] ?? "";
  if (isCancelled) return [styled("dim", `${spin} Cancelling`)];
  return [styled("summary", `${spin} ${says}`), styled("dim", ` ${seconds} s  Esc cancels`)];
}

function withField(
  name: string,
  { field }: Extract<Dialog, { field: unknown }>,
  columns: number,
  rule: FrameLine,
  hint: string,
): DialogView {
  // On a narrow terminal the name makes room for what is typed.
  const shownName = displayWidth(name) + 20 > columns ? "> " : name;
  const { text, column } = visibleField(field, Math.max(columns - displayWidth(shownName), 1));
  const hints = wrapped([styled("dim", hint)], columns);
  return {
    lines: [rule, plainLine(styled("bold", shownName), text), ...hints],
    cursor: { row: 1, column: displayWidth(shownName) + column },
  };
}

function leaving({ left, choice }: Extract<Dialog, { kind: "leaving" }>, { size, glyphs }: NavigatorModel, rule: FrameLine): DialogView {
  const heading = fitLine(
    [styled("bold", `Leaving ${counted(left, "entry", "entries")} behind. `), styled("dim", "They stay in the tree.")],
    size.columns,
    glyphs.ellipsis,
  );
  const choices = LEAVING_CHOICES.map((says, at): FrameLine => {
    const line = fitLine(
      [at === choice ? styled("leaf", `${glyphs.cursor} `) : "  ", `${at + 1} ${says.replace("…", glyphs.ellipsis)}`],
      size.columns,
      glyphs.ellipsis,
    );
    return { line, isSelected: at === choice };
  });
  return { lines: [rule, plainLine(...heading), ...choices] };
}

/** Lines of a long text that a body of `body` lines shows at once: without the rule above it and the line below. */
export function scrollableRows(body: number): number {
  return Math.max(body - 2, 1);
}

/** Long texts take the whole body and are scrolled. */
function scrolled(lines: readonly Line[], scroll: number, { size, glyphs }: NavigatorModel, rule: FrameLine, body: number): DialogView {
  const rows = scrollableRows(body);
  const from = Math.min(scroll, Math.max(lines.length - rows, 0));
  const shown = lines.slice(from, from + rows).map((line) => plainLine(...fitLine(line, size.columns, glyphs.ellipsis)));
  const rest = lines.length - from - shown.length;
  const padding = Array.from({ length: rows - shown.length }, () => plainLine());
  const says = rest > 0 ? `${glyphs.ellipsis} ${counted(rest, "more line")}; Esc closes` : "Esc closes";
  const end = plainLine(...fitLine([styled("dim", says)], size.columns, glyphs.ellipsis));
  return { lines: [rule, ...shown, ...padding, end] };
}

/** What the question about a branch that is left offers, in this order. */
export const LEAVING_CHOICES = ["No summary", "A summary of the branch that is left", "A summary with a focus …"] as const;
