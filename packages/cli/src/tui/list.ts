import type { TerminalEvent } from "./screen.js";

/** Rows of one step of the wheel, in a list as in a text. */
export const WHEEL_ROWS = 3;

/** The items of a list, and the room for them. */
export interface ListShape {
  /** Number of items. */
  readonly count: number;
  /** Screen rows of the list. */
  readonly rows: number;
  /** Screen rows of an item; default 1. */
  readonly heightOf?: (index: number) => number;
  /** False for a heading; it stays visible above the item behind it. Default: all items can be selected. */
  readonly isSelectable?: (index: number) => boolean;
  /** Items above and below the selected one that stay visible if there is room, in a list of items of one row; default 0. */
  readonly margin?: number;
}

/** The state of a list: its selected item (-1: none), and the first one on screen. */
export interface ListPosition {
  readonly selected: number;
  readonly top: number;
}

/** The first item on screen, moved from `top` as little as shows the selected item. Reads at most two screens of items. */
export function topOf(list: ListShape, { selected, top }: ListPosition): number {
  if (list.count === 0) return 0;
  const margin = Math.min(list.margin ?? 0, Math.floor((list.rows - 1) / 2));
  const hasHeading = selected > 0 && !isSelectable(list, selected - 1);
  const highest = Math.max(selected - (hasHeading ? Math.max(margin, 1) : margin), 0);
  const lowest = firstAbove(list, Math.min(Math.max(selected, 0) + margin, list.count - 1));
  return Math.min(Math.max(Math.min(top, highest), lowest), firstAbove(list, list.count - 1));
}

/** The items on screen, `to` exclusive. The last one may be cut. */
export function visibleItems(list: ListShape, top: number): { readonly from: number; readonly to: number } {
  let room = list.rows;
  let to = top;
  for (; to < list.count && room > 0; to += 1) room -= heightOf(list, to);
  return { from: top, to };
}

/** The item that a line of the list shows; undefined: none. */
export function itemAtLine(list: ListShape, top: number, line: number): number | undefined {
  if (line < 0 || line >= list.rows) return undefined;
  const { to } = visibleItems(list, top);
  let below = 0;
  for (let item = top; item < to; item += 1) {
    below += heightOf(list, item);
    if (line < below) return item;
  }
  return undefined;
}

/** Returns the selectable item before or after the selected one. Beyond an end, `wrap` continues at the other end. */
export function stepFrom(list: ListShape, selected: number, direction: 1 | -1, ends: "wrap" | "stop"): number {
  for (let steps = 1; steps <= list.count; steps += 1) {
    const item = selected + direction * steps;
    if (ends === "stop" && (item < 0 || item >= list.count)) return selected;
    // Without a selection the first step leads to an end.
    const wrapped = selected < 0 && direction < 0 ? list.count - steps : ((item % list.count) + list.count) % list.count;
    if (isSelectable(list, wrapped)) return wrapped;
  }
  return selected;
}

/** The item about one screen before or after the selected one; one row of the old screen stays. Stops at the ends. */
export function pageFrom(list: ListShape, selected: number, direction: 1 | -1): number {
  let item = selected;
  for (let room = Math.max(list.rows - 1, 1); room > 0; ) {
    const next = item + direction;
    if (next < 0 || next >= list.count) break;
    item = next;
    room -= heightOf(list, item);
  }
  if (item >= 0 && isSelectable(list, item)) return item;
  const beyond = stepFrom(list, item, direction, "stop");
  return beyond === item ? stepFrom(list, item, direction === 1 ? -1 : 1, "stop") : beyond;
}

/** The list after a step of the wheel. The selection stays on its item as long as that is on the screen. */
export function turnWheel(list: ListShape, { selected, top }: ListPosition, direction: 1 | -1): ListPosition {
  const lowest = list.count === 0 ? 0 : firstAbove(list, list.count - 1);
  let next = top;
  for (let moved = 0; moved < WHEEL_ROWS && next + direction >= 0 && next + direction <= lowest; next += direction)
    moved += heightOf(list, direction === 1 ? next : next - 1);
  const { from, to } = visibleItems(list, next);
  const stays = Array.from({ length: to - from }, (_, at) => from + at).filter(
    (item) => isSelectable(list, item) && topOf(list, { selected: item, top: next }) === next,
  );
  if (stays.length === 0) return { selected, top: topOf(list, { selected, top }) };
  const nearest = stays.reduce((best, item) => (Math.abs(item - selected) < Math.abs(best - selected) ? item : best));
  return { selected: nearest, top: next };
}

/**
 * Returns the first visible line of a text of `length` lines after a key or the wheel; undefined: the event does not scroll. `rows` lines
 * are visible.
 */
export function scrollText(event: TerminalEvent, top: number, length: number, rows: number): number | undefined {
  const by = event.kind === "key" ? keySteps(event.key, rows) : event.kind === "mouse" ? WHEEL_STEPS[event.action] : undefined;
  if (by === undefined) return undefined;
  const lowest = Math.max(length - rows, 0);
  // After the terminal grew, the old line may be beyond the new lowest one.
  return Math.min(Math.max(Math.min(top, lowest) + by, 0), lowest);
}

const WHEEL_STEPS = { wheelUp: -WHEEL_ROWS, wheelDown: WHEEL_ROWS, press: undefined } as const;

function keySteps(key: string, page: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ...{ up: -1, k: -1, down: 1, j: 1, pageup: -page, pagedown: page, space: page },
    ...{ home: Number.NEGATIVE_INFINITY, g: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY, G: Number.POSITIVE_INFINITY },
  };
  return steps[key];
}

/** The first item on screen when `last` is the last one that is shown whole. */
function firstAbove(list: ListShape, last: number): number {
  let first = last;
  let room = list.rows - heightOf(list, last);
  while (first > 0 && room >= heightOf(list, first - 1)) {
    first -= 1;
    room -= heightOf(list, first);
  }
  return first;
}

function heightOf({ heightOf: measure }: ListShape, item: number): number {
  return measure?.(item) ?? 1;
}

function isSelectable({ isSelectable: judge }: ListShape, item: number): boolean {
  return judge?.(item) ?? true;
}
