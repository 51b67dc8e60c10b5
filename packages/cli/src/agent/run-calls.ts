import type { EntryId, ToolCallBlock } from "@bough/session-core";
import { raceAbort } from "@bough/session-core/engine";
import type { PermissionChecker } from "./permissions.js";
import type { UnparsableCalls } from "./reply.js";
import { type FileToolName, isFileTool, type Tool, type ToolContext, type ToolOutcome } from "./tools/tool.js";
import { resultEntry, type TurnBranch } from "./turn-branch.js";
import type { TurnEvent } from "./turn-events.js";

/** The environment of `runCalls`. */
export interface CallRunner {
  readonly branch: TurnBranch;
  readonly tools: readonly Tool[];
  readonly checker: PermissionChecker;
  readonly context: Omit<ToolContext, "target">;
  readonly onEvent: (event: TurnEvent) => void;
  readonly now: () => number;
  /** Output of the last tool that is not stored yet. */
  readonly pending: { text: string };
}

const STOPPED = "Not run: the user stopped the turn.";
const DENIED = "Not run: the user denied this call. Ask what they want instead.";
const CUT_OFF = "Not run: the reply reached its token limit, and this call may be incomplete. Call again with less text.";

/**
 * Runs the calls of a reply sequentially. Each result is stored before the next call runs. A call that does not run gets a
 * result with the reason, so that every call has a result.
 */
export async function runCalls(
  runner: CallRunner,
  calls: readonly ToolCallBlock[],
  unparsableCalls: UnparsableCalls,
  wasCut: boolean,
): Promise<void> {
  for (const call of calls) {
    runner.onEvent({ kind: "tool", id: call.id, name: call.name, input: call.arguments });
    const reasonNotToRun = wasCut ? CUT_OFF : unparsableCalls.get(call.id);
    const outcome = reasonNotToRun === undefined ? await runCall(runner, call) : failedOutcome(reasonNotToRun);
    await storeResult(runner, call, outcome);
  }
}

/** The results of the calls of an interrupted reply, which do not run. */
export function notRun(calls: readonly ToolCallBlock[], why: "aborted" | "error", nowMs: number) {
  const outcome = failedOutcome(why === "aborted" ? STOPPED : "Not run: the reply was interrupted.");
  return calls.map(({ id, name }) => resultEntry(id, name, outcome, nowMs));
}

async function runCall(runner: CallRunner, call: ToolCallBlock): Promise<ToolOutcome> {
  const { tools, context } = runner;
  if (context.signal.aborted) return failedOutcome(STOPPED);
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return failedOutcome(`There is no tool ${call.name}. ${listTools(tools)}`);
  const { name } = tool;
  // Recall tools only read the session and need no permission.
  if (!isFileTool(name)) return tool.run(call.arguments, { ...context, target: null });
  const permission = await checkUnlessStopped(runner, call, name);
  if (permission === undefined) return failedOutcome(STOPPED);
  return permission.isAllowed ? tool.run(call.arguments, { ...context, target: permission.target }) : failedOutcome(DENIED);
}

function listTools(tools: readonly Tool[]): string {
  return tools.length === 0 ? "No tools are enabled." : `Tools: ${tools.map(({ name }) => name).join(", ")}.`;
}

function failedOutcome(text: string): ToolOutcome {
  return { text, isError: true };
}

/** The permission of a call; undefined if the turn is stopped before the user answers. */
async function checkUnlessStopped({ checker, context }: CallRunner, call: ToolCallBlock, name: FileToolName) {
  try {
    const permission = await raceAbort(checker.check(call.id, name, call.arguments), context.signal);
    return context.signal.aborted ? undefined : permission;
  } catch (error) {
    if (context.signal.aborted) return undefined;
    throw error;
  }
}

async function storeResult(runner: CallRunner, call: ToolCallBlock, outcome: ToolOutcome): Promise<EntryId> {
  runner.pending.text = outcome.text;
  const entryId = await runner.branch.append(resultEntry(call.id, call.name, outcome, runner.now()));
  runner.pending.text = "";
  runner.onEvent({ kind: "tool-result", id: call.id, name: call.name, ...outcome, entryId });
  return entryId;
}
