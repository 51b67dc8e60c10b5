import type { EntryId, ToolCallBlock } from "@bough/session-core";
import { raceAbort } from "@bough/session-core/internals";
import type { PermissionChecker } from "./permissions.js";
import type { UnreadableCalls } from "./reply.js";
import type { Tool, ToolContext, ToolOutcome } from "./tools/tool.js";
import { resultEntry, type TurnBranch } from "./turn-branch.js";
import type { TurnEvent } from "./turn-events.js";

/** What calls are run with. */
export interface CallRunner {
  readonly branch: TurnBranch;
  readonly tools: readonly Tool[];
  readonly gatekeeper: PermissionChecker;
  readonly place: Omit<ToolContext, "target">;
  readonly onEvent: (event: TurnEvent) => void;
  readonly now: () => number;
  /** Output of a tool that ran and is not in the store yet. */
  readonly pending: { text: string };
}

const STOPPED = "Not run: the person stopped the turn.";
const DENIED = "Not run: the person said no to this call. Ask what they want instead.";
const CUT_OFF = "Not run: the reply was cut off at its limit, and this call may be incomplete. Call again, in smaller pieces.";

/**
 * Runs the calls of a reply one after the other. Each result is in the store before the next call runs; a call that does
 * not run gets a result that says why, so that every call has one.
 */
export async function runCalls(
  runner: CallRunner,
  calls: readonly ToolCallBlock[],
  unreadable: UnreadableCalls,
  wasCut: boolean,
): Promise<void> {
  for (const call of calls) {
    runner.onEvent({ kind: "tool", id: call.id, name: call.name, input: call.arguments });
    const wrong = wasCut ? CUT_OFF : unreadable.get(call.id);
    const outcome = wrong === undefined ? await outcomeOfCall(runner, call) : failed(wrong);
    await store(runner, call, outcome);
  }
}

/** What a call that will not run is answered with; for replies that broke off. */
export function notRun(calls: readonly ToolCallBlock[], why: "aborted" | "error", nowMs: number) {
  const outcome = failed(why === "aborted" ? STOPPED : "Not run: the reply broke off.");
  return calls.map(({ id, name }) => resultEntry(id, name, outcome, nowMs));
}

async function outcomeOfCall(runner: CallRunner, call: ToolCallBlock): Promise<ToolOutcome> {
  const { tools, place } = runner;
  if (place.signal.aborted) return failed(STOPPED);
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return failed(`There is no tool ${call.name}. ${offer(tools)}`);
  const verdict = await checkUnlessStopped(runner, call, tool);
  if (verdict === undefined) return failed(STOPPED);
  return verdict.isAllowed ? tool.run(call.arguments, { ...place, target: verdict.target }) : failed(DENIED);
}

function offer(tools: readonly Tool[]): string {
  return tools.length === 0 ? "No tools are switched on." : `There are: ${tools.map(({ name }) => name).join(", ")}.`;
}

function failed(text: string): ToolOutcome {
  return { text, isError: true };
}

/** The verdict on a call; undefined if the turn is stopped first: then no answer may come any more. */
async function checkUnlessStopped({ gatekeeper, place }: CallRunner, call: ToolCallBlock, tool: Tool) {
  try {
    const verdict = await raceAbort(gatekeeper.check(call.id, tool.name, call.arguments), place.signal);
    return place.signal.aborted ? undefined : verdict;
  } catch (error) {
    if (place.signal.aborted) return undefined;
    throw error;
  }
}

async function store(runner: CallRunner, call: ToolCallBlock, outcome: ToolOutcome): Promise<EntryId> {
  runner.pending.text = outcome.text;
  const entryId = await runner.branch.append(resultEntry(call.id, call.name, outcome, runner.now()));
  runner.pending.text = "";
  runner.onEvent({ kind: "tool-result", id: call.id, name: call.name, ...outcome, entryId });
  return entryId;
}
