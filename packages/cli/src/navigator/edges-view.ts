import { count, counted } from "../format/numbers.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { type FrameLine, plainLine } from "../tui/frame.js";
import { keyName } from "../tui/key-table.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel } from "./model.js";
import { selectedPosition, visibleCount } from "./select.js";

/** The first line: which session, which filter, and where in it the person is. */
export function headLine(model: NavigatorModel, columns: number): FrameLine {
  const { title, tree, filter, glyphs } = model;
  const shown = visibleCount(model);
  const position = selectedPosition(model) + 1;
  const total = tree?.index.size ?? 0;
  const hidden = shown === total ? "" : ` of ${counted(total, "entry", "entries")}`;
  const place: Line = [styled("dim", ` ${count(position)}/${count(shown)}${hidden} `), styled("label", `[${filter}]`)];
  const room = Math.max(columns - lineWidth(place), 0);
  const name = fitLine([styled("bold", title)], room, glyphs.ellipsis);
  const gap = " ".repeat(Math.max(room - lineWidth(name), 0));
  return plainLine(...fitLine([...name, gap, ...place], columns, glyphs.ellipsis));
}

const HINTS: readonly (readonly [action: NavigatorAction, says: string])[] = [
  ["go", "go"],
  ["help", "all keys"],
  ["close", "close"],
  ["search", "search"],
  ["preview", "preview"],
  ["fold", "fold"],
  ["label", "label"],
];

/** The last line: what just happened, or which keys there are. */
export function footLine(model: NavigatorModel, columns: number): FrameLine {
  const { notice, glyphs } = model;
  if (notice !== null)
    return plainLine(...fitLine([notice.isError ? styled("error", notice.text) : notice.text], columns, glyphs.ellipsis));
  if (model.dialog.kind === "leaving")
    return hintLine(
      [
        ["Enter", "choose"],
        ["Up/Down", "another"],
        ["Esc", "stay here"],
      ],
      columns,
    );
  if (model.dialog.kind !== "none") return plainLine();
  if (model.search?.isTyping === true)
    return hintLine(
      [
        ["Enter", "to the list"],
        ["Esc", "end the search"],
        ["Up/Down", "choose"],
      ],
      columns,
    );
  const hints = HINTS.flatMap(([action, says]) => {
    const key = model.keys.find((binding) => binding.action === action)?.keys[0];
    return key === undefined ? [] : [[keyName(key, glyphs.isAscii), says] as const];
  });
  return hintLine(hints, columns);
}

/** As many hints as fit; the first are the most important. */
function hintLine(hints: readonly (readonly [key: string, says: string])[], columns: number): FrameLine {
  const line: (string | ReturnType<typeof styled>)[] = [];
  let used = 0;
  for (const [key, says] of hints) {
    const piece: Line = [styled("bold", key), styled("dim", ` ${says}  `)];
    used += lineWidth(piece);
    if (used - 2 > columns) break;
    line.push(...piece);
  }
  return plainLine(...fitLine(line, columns, ""));
}
