import { isDeepStrictEqual } from "node:util";
import type { AgentInputItem } from "@openai/agents-core";

/**
 * The items of the run that uses a session now. The runner passes its whole history with every request, and adds its items to the
 * session only at its end; a session that compacts in between stores them earlier, and has to know them when they are added.
 */
export class RunItems {
  /** The history that the run started with. */
  #start: readonly AgentInputItem[] = [];
  /** The items of the run that are stored already. */
  #stored: readonly AgentInputItem[] = [];

  /** A run starts with this history. */
  begin(history: readonly AgentInputItem[]): void {
    this.#start = history;
    this.#stored = [];
  }

  /** The items of a request that are not stored yet; undefined if the request is not of this run. */
  newItems(input: readonly AgentInputItem[]): readonly AgentInputItem[] | undefined {
    const known = [...this.#start, ...this.#stored];
    return startsWith(input, known) ? input.slice(known.length) : undefined;
  }

  noteStored(items: readonly AgentInputItem[]): void {
    this.#stored = [...this.#stored, ...structuredClone(items)];
  }

  /** Returns the added items of the runner that are not stored yet. Items that the run changed since count as not stored. */
  takeAdded(items: readonly AgentInputItem[]): readonly AgentInputItem[] {
    const added = startsWith(items, this.#stored) ? items.slice(this.#stored.length) : items;
    this.#start = [...this.#start, ...this.#stored, ...structuredClone(added)];
    this.#stored = [];
    return added;
  }
}

function startsWith(items: readonly AgentInputItem[], start: readonly AgentInputItem[]): boolean {
  return start.length <= items.length && start.every((item, at) => isDeepStrictEqual(comparable(item), comparable(items[at])));
}

/** Returns an item without its id and without members that are undefined: the runner may drop them. */
function comparable(item: AgentInputItem | undefined): unknown {
  return JSON.parse(JSON.stringify({ ...item, id: undefined }));
}
