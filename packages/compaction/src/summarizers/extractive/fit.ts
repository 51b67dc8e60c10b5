import { BLOCK_NAMES, type BlockName, type Blocks, type Line, shapeOf } from "./outline.js";
import { frameCost, lineCost, render } from "./render.js";
import { safeLine } from "./safe-line.js";

/** A line with a lower rank is cut to what is left instead of being left out: the goal and the last request. */
const MUST_BE_SAID = 2;
/** A cut line shorter than this says nothing. */
const LEAST = 16;
/** Below this no headings: they would take the place of what they are over. */
const WITHOUT_HEADINGS = 260;
/** Blocks that say how many of their lines had no place. */
const COUNTED: readonly BlockName[] = ["requests", "done", "errors", "changed"];
const COUNTS_COST = COUNTED.length * "- (99999 more left out)\n".length;
/** Where there is less room, the counts are left out too. */
const COUNTS_FROM = 1_000;

interface Placed extends Line {
  readonly name: BlockName;
  readonly at: number;
}

/** The extract of these blocks in at most `maxChars`: the lines with the lowest ranks that have room, in their order. */
export function fitBlocks(first: string, blocks: Blocks, maxChars: number): string {
  if (maxChars < WITHOUT_HEADINGS) return fitShort(blocks, maxChars);
  const counts = maxChars >= COUNTS_FROM;
  const chosen = choose(blocks, maxChars - first.length - (counts ? COUNTS_COST : 0));
  const lines = new Map(BLOCK_NAMES.map((name) => [name, shown(name, blocks[name], { chosen, counts })]));
  return render(first, lines);
}

function choose(blocks: Blocks, room: number): ReadonlyMap<BlockName, ReadonlyMap<number, string>> {
  const chosen = new Map<BlockName, Map<number, string>>();
  let left = room;
  for (const line of byRank(blocks)) {
    const frame = chosen.has(line.name) ? 0 : frameCost(shapeOf(line.name));
    const cost = frame + lineCost(line.name, line.text);
    const text = cost <= left ? line.text : cutTo(line, left - frame - lineCost(line.name, ""));
    if (text === "") continue;
    left -= frame + lineCost(line.name, text);
    const block = chosen.get(line.name) ?? new Map<number, string>();
    chosen.set(line.name, block.set(line.at, text));
  }
  return chosen;
}

function byRank(blocks: Blocks): readonly Placed[] {
  return BLOCK_NAMES.flatMap((name) => blocks[name].map((line, at) => ({ ...line, name, at }))).sort((a, b) => a.rank - b.rank);
}

function cutTo({ text, rank }: Placed, room: number): string {
  return rank < MUST_BE_SAID && room >= LEAST ? safeLine(text, room) : "";
}

function shown(
  name: BlockName,
  lines: readonly Line[],
  { chosen, counts }: { readonly chosen: ReturnType<typeof choose>; readonly counts: boolean },
): readonly string[] {
  const block = chosen.get(name);
  if (block === undefined) return [];
  const kept = [...block].sort(([a], [b]) => a - b).map(([, text]) => text);
  const out = lines.length - kept.length;
  return counts && out > 0 && COUNTED.includes(name) ? [`(${out} more left out)`, ...kept] : kept;
}

/** Where there is room for a sentence or two: what was asked first, and what last. */
function fitShort(blocks: Blocks, maxChars: number): string {
  const goal = blocks.goal[0]?.text ?? blocks.earlier[0]?.text ?? blocks.last[0]?.text ?? "";
  const last = blocks.latest[0]?.text ?? "";
  const words = last === "" ? 1 : 2;
  const room = Math.floor((maxChars - "Extract. Asked:  Last: ".length) / words);
  if (room < 1) return safeLine(last === "" ? goal : last, Math.max(0, maxChars));
  const said = [`Extract. Asked: ${safeLine(goal, room)}`, ...(last === "" ? [] : [`Last: ${safeLine(last, room)}`])];
  return said.join(" ");
}
