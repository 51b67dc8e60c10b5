import type { Write as BoughWrite, OutlineRow, Session } from "@bough/session-core";
import type { ForkCurrentStatePlan, ForkOptions } from "@earendil-works/pi-agent-core/harness/session";
import { NO_USAGE, piTypeOf } from "./entries.js";
import { LANE_CONFIG, LANE_STATE, STATE_KEY, TIPS, valueKey } from "./keys.js";
import { projectForkCurrentStateWrite } from "./pi.js";
import { readTotals, type StoredTotals, type Totals } from "./totals.js";
import { PiValues } from "./values.js";

/** The entries that a fork copies: the whole tree, or the path to the tip of one branch. */
export type ForkPlan = ForkCurrentStatePlan;

/**
 * Plans a fork by pi's rules. A branch must have a configured lane, and the entry must be on it.
 *
 * @throws {Error} with pi's words.
 */
export async function planFork(source: Session, options: ForkOptions): Promise<ForkPlan> {
  if (options.scope === "tree") return { scope: "tree" };
  const { branch } = options;
  const has = async (namespace: string) => (await source.values.get(valueKey({ namespace, key: branch }))) !== undefined;
  if (!(await has(TIPS))) throw new Error(`Unknown source branch: ${branch}`);
  if (!(await has(LANE_CONFIG)) || !(await has(LANE_STATE))) {
    throw new Error(`Source branch ${JSON.stringify(branch)} is not a configured AgentLane`);
  }
  const tip = (await source.leaves()).find(({ name }) => name === branch)?.entryId ?? null;
  return { scope: "branch", branch, destinationTip: await endOf(source, tip, options) };
}

/** The last entry that is copied. */
async function endOf(source: Session, tip: string | null, options: Extract<ForkOptions, { scope: "branch" }>): Promise<string | null> {
  const { entryId = tip, position = "at", branch } = options;
  if (entryId === null) return null;
  const isKnown = (await source.entriesById([entryId])).has(entryId);
  if (tip === null || !isKnown || (await source.tree.commonAncestor(entryId, tip)) !== entryId) {
    throw new Error(`Fork entry ${entryId} is not on source branch ${JSON.stringify(branch)}`);
  }
  return position === "before" ? (await source.entry(entryId)).parentId : entryId;
}

/**
 * The values of a fork, selected by pi's own rules: name, labels and tips of copied entries and the configuration of lanes come along;
 * lanes are idle; operations and usage start anew; values of applications come along with a whole tree only. The numbers go on where
 * those of the source end.
 *
 * @throws {Error} a value in a namespace of pi that this version of pi does not know.
 */
export async function forkWrites(source: Session, plan: ForkPlan): Promise<readonly BoughWrite[]> {
  const totals = await readTotals(source);
  const path = plan.scope === "tree" ? undefined : await rowsOf(source, plan.destinationTip);
  const ids = path && new Set(path.map(({ id }) => id));
  const stored = await new PiValues(source, () => totals.sequence).everything();
  const values = stored.flatMap(({ key, address, seq, value }) => {
    const given = { seq, ...address, value };
    const write =
      address.kind === "value" ? ({ ...given, kind: "value", op: "set" } as const) : ({ ...given, kind: "list", op: "append" } as const);
    const kept = projectForkCurrentStateWrite(write, plan, (id) => ids?.has(id) ?? true);
    return kept === undefined ? [] : [{ kind: "value" as const, key, value: { seq, value: kept.value } }];
  });
  const leaf = plan.scope === "tree" ? [] : [{ kind: "moveLeaf" as const, to: plan.destinationTip, leaf: plan.branch }];
  return [...values, ...leaf, { kind: "value", key: STATE_KEY, value: forkedTotals(totals, path) }];
}

async function rowsOf(source: Session, tip: string | null): Promise<readonly OutlineRow[]> {
  return tip === null ? [] : source.tree.path(tip, Number.MAX_SAFE_INTEGER);
}

/** The totals of a fork. `path`: what is copied; undefined: all entries. */
function forkedTotals({ last, sequence, entries, stats }: Totals, path: readonly OutlineRow[] | undefined): StoredTotals {
  const messages = path?.filter(({ type }) => piTypeOf(type) === "message").length ?? stats.messageCount;
  return { last, shift: sequence.shift, entries: path?.length ?? entries, messages, usage: NO_USAGE };
}
