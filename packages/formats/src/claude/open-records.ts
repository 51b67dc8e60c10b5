import { QUIET_MS, RUNNING_MS } from "@bough/session-core/engine";
import { isObject, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { BRANCH_STARTS, isNoise } from "./record-kind.js";
import type { StepState } from "./saved-transcript.js";
import type { NodeIndex, SessionFile } from "./session-file.js";

/** Reports that Claude Code writes when a turn has ended. */
const TURN_ENDS = ["turn_duration", "stop_hook_summary"];

/** Stop reasons after which the same reply may continue with another line. */
const GOES_ON = ["tool_use", "pause_turn"];

/**
 * Finds the records of a transcript whose entries later lines can still change:
 *
 * - a reply, until the next step of its session, a stop reason that ends the turn, or the report that the turn has ended;
 * - a compaction, until its summary or another step;
 * - a report or an injected message, until the next step: only that step shows if a branch starts with it.
 */
export class OpenRecords {
  readonly #file: SessionFile;
  /** For each session of the transcript: its last step; `hasEnded` is false for a reply or compaction that may get further lines. */
  readonly #steps = new Map<number, StepState>();
  #seen: NodeIndex = 0;
  #lastResult: NodeIndex = -1;

  /** `home`, `step`: the session of a transcript that an earlier reading began to read, and its last step. */
  constructor(file: SessionFile, home = 0, step?: StepState | null) {
    this.#file = file;
    if (step === undefined) return;
    this.#seen = file.records.length;
    if (step !== null) this.#steps.set(home, { ...step });
  }

  /** The last step of a session. */
  stepOf(chain: number): StepState | undefined {
    return this.#steps.get(chain);
  }

  /** Reads the next record of the file, which was added last. */
  add(object: JsonObject): void {
    const node = this.#seen++;
    const record = this.#file.records.get(node);
    if (record === undefined) return;
    const { kind, chain } = record;
    if (BRANCH_STARTS.includes(kind)) this.#steps.set(chain, { node, hasEnded: kind !== "reply" && kind !== "boundary", goesOn: false });
    if (kind === "result" && chain === 0) this.#lastResult = node;
    const step = this.#steps.get(chain);
    if (step !== undefined && endsTurn(object)) step.hasEnded = true;
    if (step !== undefined && object.type === "assistant") step.goesOn = stopReasonOf(object) === undefined || isThinking(object);
    if (step !== undefined && this.#file.boundaries.get(step.node)?.summary !== undefined) step.hasEnded = true;
  }

  /** The time for which an open record of a session may still change, in milliseconds: a reply without a stop reason gets further lines. */
  waitMs(chain: number): number {
    return this.#steps.get(chain)?.goesOn === true ? RUNNING_MS : QUIET_MS;
  }

  /**
   * True if later lines can change the entries of a record.
   * @param home the session of the transcript, in contrast to agents inside it, which end with the result of their call.
   */
  isOpen(node: NodeIndex, home: number): boolean {
    const record = this.#file.records.get(node);
    if (record === undefined) return true;
    if (record.chain !== home && this.#lastResult > node) return false;
    const step = this.#steps.get(record.chain);
    if (record.kind === "reply" || record.kind === "boundary") return step?.node === node && !step.hasEnded;
    return (isNoise(record.kind) || record.kind === "injected") && (step === undefined || step.node < node);
  }
}

function endsTurn(record: JsonObject): boolean {
  if (record.type === "system") return TURN_ENDS.includes(stringAt(record, "subtype") ?? "");
  const reason = record.type === "assistant" ? stopReasonOf(record) : undefined;
  return reason !== undefined && !GOES_ON.includes(reason) && !isThinking(record);
}

function stopReasonOf(record: JsonObject): string | undefined {
  return stringAt(objectAt(record, "message") ?? {}, "stop_reason");
}

/** True if a line is the thinking at the start of a reply. */
function isThinking(record: JsonObject): boolean {
  const content = objectAt(record, "message")?.content;
  return Array.isArray(content) && isObject(content[0]) && content[0].type === "thinking";
}
